import { LRUCache } from 'lru-cache';
import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import type { Hex, Transfer } from '../../types.ts';
import type { Balances } from '../blocks/balances.ts';
import { effectsOf, type ParsedBlock } from '../blocks/parse.ts';
import { CONTROL, isGone } from '../node/calls.ts';
import type { EvmNode } from '../node/node.ts';
import type { Log } from './problems.ts';

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

const NO_ANSWER = Promise.resolve(null);

/** The state of the block is lost. */
const STATE = 'state';

const textOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

const MAX_FAILING = 1_000;
/** What has not failed for this time has not been asked for either, and may work again. */
const FORGOTTEN_MS = 600_000;

/** Knows for how long things have failed. */
const createPatience = (ms: number) => {
  const failing = new LRUCache<string, { readonly since: number; isTold: boolean }>({
    ...{ max: MAX_FAILING, ttl: FORGOTTEN_MS },
  });
  return {
    /** Notes a failure. Returns whether it has lasted too long. */
    isOver(name: string): boolean {
      const state = failing.get(name) ?? { since: Date.now(), isTold: false };
      failing.set(name, state);
      return Date.now() - state.since >= ms;
    },
    /** Whether this is the first question since it began to fail. */
    isNews(name: string): boolean {
      const state = failing.get(name);
      if (state === undefined || state.isTold) return false;
      state.isTold = true;
      return true;
    },
    /** Notes a success. Returns whether `isNews` had been true for it. */
    end(name: string): boolean {
      const wasTold = failing.get(name)?.isTold ?? false;
      failing.delete(name);
      return wasTold;
    },
  };
};

type Options = {
  readonly node: Pick<EvmNode, 'chainId' | 'balances' | 'calls'>;
  /** Whether a webhook delivers the balances of an account. */
  readonly watches: (account: Hex) => boolean;
  readonly log: Log;
  /** Milliseconds for which a block is not added because its balances are missing. Default: 10,000. */
  readonly patienceMs?: number;
};

/** Asks for the balances of a block. `isComplete` says that the sums of the index are balances. Rejects when the node fails. */
export type BalanceReader = (block: ParsedBlock, isComplete: boolean) => Promise<Balances>;

/**
 * Asks a node for the balances at the end of a block that webhooks tell of: those of the native asset, and where the sums of
 * the index are not balances, as older blocks are missing, those of tokens too. Whoever asks asks again after a failure. Two
 * are given up after some time: the state of a block that the node has lost, and a contract that it can't ask although it
 * answers other calls. Their changes are not told, and a log line says so.
 */
export const createBalanceReader = ({ node, watches, log, patienceMs = 10_000 }: Options): BalanceReader => {
  const { chainId } = node;
  const lost = createPatience(patienceMs);
  const unasked = createPatience(patienceMs);

  /** What a contract says; null where it says nothing, or is given up. */
  const amountOf = async (answer: Promise<Hex | null>, token: Hex, block: number): Promise<bigint | null> => {
    try {
      const said = await answer;
      unasked.end(token);
      return said === null || said.length < WORD ? null : BigInt(said.slice(0, WORD));
    } catch (problem) {
      if (isGone(problem) || !unasked.isOver(token)) throw problem;
      // Where the node does not answer this either, it is not the contract's fault.
      await Promise.all(node.calls([CONTROL], block));
      if (unasked.isNews(token))
        log('balances of a token not delivered', { chainId, token, block, problem: textOf(problem) });
      return null;
    }
  };

  /** Null when the node can't say what was at the block. */
  const amountsAt = async (
    block: number,
    natives: readonly Hex[],
    questions: readonly Question[],
  ): Promise<ReadonlyMap<string, bigint | null> | null> => {
    if (natives.length + questions.length === 0) return new Map();
    const answers = node.calls(questions, block);
    try {
      const [balances, amounts] = await Promise.all([
        node.balances(natives, block),
        Promise.all(questions.map(({ to }, at) => amountOf(answers[at] ?? NO_ANSWER, to, block))),
      ]);
      if (lost.end(STATE)) log('balances delivered again', { chainId, block });
      return new Map([
        ...natives.map((account, at) => [account, balances[at] ?? null] as const),
        ...questions.map(({ key }, at) => [key, amounts[at] ?? null] as const),
      ]);
    } catch (problem) {
      if (!isGone(problem) || !lost.isOver(STATE)) throw problem;
      if (lost.isNews(STATE)) log('balances not delivered', { chainId, block, problem: textOf(problem) });
      return null;
    }
  };

  return async (block, isComplete) => {
    const { watched, natives, questions } = asksOf(block, watches, isComplete);
    const known = await amountsAt(block.number, natives, questions);
    // Where sums are not balances, no balance is better than a wrong one.
    if (known === null && !isComplete) return { watches: () => false, after: () => null };
    return {
      watches: (account) => watched.has(account),
      after: (account, moved) => known?.get(moved.token === null ? account : keyOf(account, moved)) ?? null,
    };
  };
};

/** What is to be asked of a block. */
const asksOf = (
  { transactions }: ParsedBlock,
  watches: (account: Hex) => boolean,
  isComplete: boolean,
): {
  readonly watched: ReadonlySet<Hex>;
  readonly natives: readonly Hex[];
  readonly questions: readonly Question[];
} => {
  const watched = new Set<Hex>();
  const natives = new Set<Hex>();
  const questions = new Map<string, Question>();
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
  return { watched, natives: [...natives], questions: [...questions.values()] };
};
