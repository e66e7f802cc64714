import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import type { Hex, Transfer } from '../../types.ts';
import type { Balances } from '../blocks/balances.ts';
import { effectsOf, type ParsedBlock } from '../blocks/parse.ts';
import { RpcError } from '../node/errors.ts';
import type { EvmNode } from '../node/node.ts';
import { isTemporary } from '../node/rpc.ts';

const balanceOfCoin = parseFunction('function balanceOf(address account) returns (uint256)');
const balanceOfItem = parseFunction('function balanceOf(address account, uint256 id) returns (uint256)');

/** Hex digits of an answer that is one number. */
const WORD = 2 + 64;

/** A question to a contract of what an account has. */
type Question = { readonly key: string; readonly to: Hex; readonly data: Hex };

const keyOf = (account: Hex, { token, tokenId }: Transfer): string => `${account}/${token}/${tokenId ?? ''}`;

/** Null for the native asset, and for an ERC-721: there is one of it. */
const questionOf = (account: Hex, moved: Transfer): Question | null => {
  const { asset, token, tokenId } = moved;
  if (token === null || asset === 'erc721') return null;
  const data =
    tokenId === null ? encodeData(balanceOfCoin, [account]) : encodeData(balanceOfItem, [account, tokenId]);
  return { key: keyOf(account, moved), to: token, data };
};

/**
 * Asks a node for the balances at the end of a block that webhooks tell of: those of the native asset, and where the sums of
 * the index are not balances, as older blocks are missing, those of tokens too. A node that has lost the state of the block says
 * nothing of them.
 */
export const askBalances = async (
  node: Pick<EvmNode, 'balances' | 'calls'>,
  { number, transactions }: ParsedBlock,
  watches: (account: Hex) => boolean,
  isComplete: boolean,
): Promise<Balances> => {
  const watched = new Set<Hex>();
  const questions = new Map<string, Question>();
  const natives = new Set<Hex>();
  for (const effect of transactions.flatMap((transaction) => effectsOf(transaction))) {
    if (effect.kind !== 'transfer') continue;
    for (const account of [effect.from, effect.to]) {
      if (!watched.has(account) && !watches(account)) continue;
      watched.add(account);
      if (effect.token === null) natives.add(account);
      const question = isComplete ? null : questionOf(account, effect);
      if (question !== null) questions.set(question.key, question);
    }
  }
  const known = await amountsAt(node, number, [...natives], [...questions.values()]);
  // Where sums are not balances, no balance is better than a wrong one.
  if (known === null && !isComplete) return { watches: () => false, after: () => null };
  return {
    watches: (account) => watched.has(account),
    after: (account, moved) => known?.get(moved.token === null ? account : keyOf(account, moved)) ?? null,
  };
};

/** Null when the node can't say what was at the block. */
const amountsAt = async (
  node: Pick<EvmNode, 'balances' | 'calls'>,
  block: number,
  natives: readonly Hex[],
  questions: readonly Question[],
): Promise<ReadonlyMap<string, bigint> | null> => {
  try {
    const [balances, answers] = await Promise.all([
      node.balances(natives, block),
      node.calls(questions, block),
    ]);
    return new Map([
      ...natives.map((account, at) => [account, balances[at] ?? 0n] as const),
      ...questions.map(({ key }, at) => {
        const answer = answers[at] ?? null;
        // A token that does not say what an account has of it has nothing for it.
        const amount = answer === null || answer.length < WORD ? 0n : BigInt(answer.slice(0, WORD));
        return [key, amount] as const;
      }),
    ]);
  } catch (problem) {
    if (problem instanceof RpcError && !isTemporary(problem)) return null;
    throw problem;
  }
};
