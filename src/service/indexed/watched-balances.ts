import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import type { Hex, Transfer } from '../types.ts';
import type { Balances } from './balances.ts';
import { isStateMissing } from './node/calls.ts';
import { RpcError } from './node/errors.ts';
import type { EvmNode } from './node/node.ts';
import { effectsOf, type ParsedBlock } from './parse.ts';

const balanceOfCoin = parseFunction('function balanceOf(address account) returns (uint256)');
const balanceOfItem = parseFunction('function balanceOf(address account, uint256 id) returns (uint256)');
const ownerOf = parseFunction('function ownerOf(uint256 id) returns (address)');

/** Hex digits of an answer that is one number or address. */
const WORD = 2 + 64;

/** A question to a contract of what an account has, and how its answer is read. */
type Question = {
  readonly key: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly read: (answer: Hex) => bigint;
};

const keyOf = (account: Hex, { token, tokenId }: Transfer): string => `${account}/${token}/${tokenId ?? ''}`;

const questionOf = (account: Hex, moved: Transfer): readonly Question[] => {
  const { asset, token, tokenId } = moved;
  if (token === null) return [];
  const question = { key: keyOf(account, moved), to: token };
  if (asset === 'erc721')
    return [
      {
        ...question,
        data: encodeData(ownerOf, [tokenId ?? 0n]),
        read: (answer) => (answer.endsWith(account.slice(2)) ? 1n : 0n),
      },
    ];
  const data =
    asset === 'erc1155'
      ? encodeData(balanceOfItem, [account, tokenId ?? 0n])
      : encodeData(balanceOfCoin, [account]);
  return [{ ...question, data, read: BigInt }];
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
      else if (!isComplete)
        for (const question of questionOf(account, effect)) questions.set(question.key, question);
    }
  }
  const known = await amountsAt(node, number, [...natives], [...questions.values()]);
  return {
    watches: (account) => watched.has(account),
    after: (account, moved) => known.get(moved.token === null ? account : keyOf(account, moved)) ?? null,
  };
};

const amountsAt = async (
  node: Pick<EvmNode, 'balances' | 'calls'>,
  block: number,
  natives: readonly Hex[],
  questions: readonly Question[],
): Promise<ReadonlyMap<string, bigint>> => {
  try {
    const [balances, answers] = await Promise.all([
      node.balances(natives, block),
      node.calls(questions, block),
    ]);
    return new Map([
      ...natives.map((account, at) => [account, balances[at] ?? 0n] as const),
      ...questions.map(({ key, read }, at) => {
        const answer = answers[at] ?? null;
        // Who does not say what an account has of it has nothing of it.
        return [
          key,
          answer === null || answer.length < WORD ? 0n : read(answer.slice(0, WORD) as Hex),
        ] as const;
      }),
    ]);
  } catch (problem) {
    if (problem instanceof RpcError && isStateMissing(problem)) return new Map();
    throw problem;
  }
};
