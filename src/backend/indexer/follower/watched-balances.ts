import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type Call, CONTROL, isGone } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import { createPatience } from '../../node/patience.ts';
import type { BalanceChange, Hex, Transfer } from '../../types.ts';
import type { Balances } from '../blocks/balances.ts';
import { effectsOf, feeOf, type ParsedBlock } from '../blocks/parse.ts';
import { byStandard, type ReadingsOf } from '../blocks/readings.ts';
import { amountIn, balanceCall } from '../contracts/amounts.ts';
import type { Log } from './problems.ts';

/** A balance that is asked for. */
type Asked = {
  readonly account: Hex;
  /** The call of its token; null for the native asset. */
  readonly call: Call | null;
  /** Whether it is one of an ERC-20. */
  readonly isCoin: boolean;
  /** What the block adds to it, as far as transactions and logs say, and in how many movements. */
  change: bigint;
  moves: number;
};

/** What an account has at the end of a block, and had before; null where it is not known. */
type Known = {
  readonly amount: bigint | null;
  /** What it had before the block. */
  readonly before: bigint | null;
  /** See `Balances`. */
  readonly unexplained: BalanceChange | null | undefined;
};

const keyOf = (account: Hex, { token, tokenId }: Pick<Transfer, 'token' | 'tokenId'>): string =>
  `${account}/${token ?? ''}/${tokenId ?? ''}`;

/** How often a node may contradict itself before the block is prepared anew. */
const MAX_DOUBTS = 5;

const NO_ANSWER = Promise.resolve(null);

/** The state of the block is lost. */
const STATE = 'state';
/** What is not asked for again in this time has left the chain. */
const LOSING_MS = 60_000;

const textOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

type Options = {
  readonly node: Pick<EvmNode, 'chainId' | 'balances' | 'calls'>;
  /** Whether a webhook delivers the balances of an account. */
  readonly watches: (account: Hex) => boolean;
  /** Whether a token's events are known not to say what accounts have. */
  readonly differs: (token: Hex) => boolean;
  /** Is told of a token's balance that its events did not lead to expect at the end of a block. */
  readonly onDifference: (token: Hex, call: Call, expected: bigint, block: ParsedBlock) => void;
  readonly log: Log;
  /** Milliseconds for which a block is not added because its balances are missing. Default: 10,000. */
  readonly patienceMs?: number;
  /** Milliseconds until a node is asked again whose answer is in doubt. Default: 100. */
  readonly doubtMs?: number;
};

/** Asks for the balances of a block. `isComplete` says that the sums of the index are balances. Rejects when the node fails. */
export type BalanceReader = (
  block: ParsedBlock,
  isComplete: boolean,
  /** How logs are read. Default: as the standards have them. */
  readingsOf?: ReadingsOf,
) => Promise<Balances>;

/**
 * Asks a node for the balances at the end of a block that webhooks tell of. Whoever asks asks again after a failure. Two are
 * given up after some time: the state of a block that the node has lost, and a contract that it can't ask although it answers
 * other calls. Then changes are not told, and a log line says so, except that sums stand in for a lost state where all blocks
 * are indexed and the token's events are not known to be wrong.
 */
export const createBalanceReader = ({
  node,
  watches,
  differs,
  onDifference,
  log,
  patienceMs = 10_000,
  doubtMs = 100,
}: Options): BalanceReader => {
  const { chainId } = node;
  const lost = createPatience(patienceMs);
  const unasked = createPatience(patienceMs);
  /** Blocks whose state is lost, and which are asked for again. Several blocks are read at a time: a newer one may be there. */
  const losing = new LRUCache<number, true>({ ...{ max: 1_000, ttl: LOSING_MS } });

  /** Whether it is the first block that can be read after others that were given up. */
  const isFound = (block: number): boolean => {
    losing.delete(block);
    losing.purgeStale();
    return losing.size === 0 && lost.end(STATE);
  };

  /** What a contract says; null where it says nothing, or is given up. */
  const amountOf = async (answer: Promise<Hex | null>, token: Hex, block: number): Promise<bigint | null> => {
    try {
      const said = await answer;
      unasked.end(token);
      return amountIn(said);
    } catch (problem) {
      if (isGone(problem) || !unasked.isOver(token)) throw problem;
      // Where the node does not answer this either, it is not the contract's fault.
      await Promise.all(node.calls([CONTROL], block));
      if (unasked.isNews(token))
        log('balances of a token not delivered', { chainId, token, block, problem: textOf(problem) });
      return null;
    }
  };

  const ask = async (
    block: number,
    asked: readonly Asked[],
    read: typeof amountOf = amountOf,
  ): Promise<readonly (bigint | null)[]> => {
    const natives = asked.filter(({ call }) => call === null);
    const calls = asked.flatMap(({ call }) => call ?? []);
    const answers = node.calls(calls, block);
    const [balances, amounts] = await Promise.all([
      node.balances(
        natives.map(({ account }) => account),
        block,
      ),
      Promise.all(calls.map(({ to }, at) => read(answers[at] ?? NO_ANSWER, to, block))),
    ]);
    const [ofNative, ofTokens] = [balances.values(), amounts.values()];
    return asked.map(({ call }) => (call === null ? ofNative : ofTokens).next().value ?? null);
  };

  /** The balances at the end of the block before, of which a token that was not there yet has 0. Null when the node fails. */
  const askBefore = async (block: number, asked: readonly Asked[]) => {
    try {
      return await ask(block - 1, asked, async (answer) => amountIn(await answer) ?? 0n);
    } catch {
      return null;
    }
  };

  /**
   * A node that is asked for the state of its newest block while it adds another may answer with the state after that one
   * (Anvil does). So what is not the balance before and what the block is known to have changed, since calls within its
   * transactions moved something too or since the answer is wrong, counts once the node says it twice in a row.
   */
  const askUntilSure = async (block: ParsedBlock, asked: readonly Asked[]) => {
    const { number } = block;
    const [before, first] = await Promise.all([askBefore(number, asked), ask(number, asked)]);
    const expected = asked.map(({ change }, at) => {
      const known = before?.[at] ?? null;
      return known === null ? null : known + change;
    });
    const isExpected = (amount: bigint | null, at: number) => amount === null || amount === expected[at];
    const explain = (amounts: readonly (bigint | null)[]) =>
      asked.map(({ call, moves }, at): Known => {
        const [amount, had] = [amounts[at] ?? null, before?.[at] ?? null];
        if (call === null || isExpected(amount, at) || (had === null && !differs(call.to)))
          return { amount, before: had, unexplained: undefined };
        const isOne = had !== null && amount !== null && moves === 1;
        return { amount, before: had, unexplained: isOne ? { before: had, after: amount } : null };
      });
    if (first.every(isExpected)) return explain(first);
    let last = first;
    for (let count = 0; count < MAX_DOUBTS; count += 1) {
      await delay(doubtMs);
      const again = await ask(number, asked);
      if (again.every((amount, at) => amount === last[at])) {
        for (const [at, { call, isCoin }] of asked.entries()) {
          const wanted = expected[at] ?? null;
          if (isCoin && call !== null && wanted !== null && !isExpected(again[at] ?? null, at))
            onDifference(call.to, call, wanted, block);
        }
        return explain(again);
      }
      last = again;
    }
    throw new Error(`expected one answer for the balances of block ${number}, got different ones`);
  };

  /** Null when the node can't say what was at the block. */
  const amountsAt = async (
    block: ParsedBlock,
    asked: ReadonlyMap<string, Asked>,
  ): Promise<ReadonlyMap<string, Known> | null> => {
    if (asked.size === 0) return new Map();
    const { number } = block;
    try {
      const amounts = await askUntilSure(block, [...asked.values()]);
      if (isFound(number)) log('balances delivered again', { chainId, block: number });
      return new Map([...asked.keys()].flatMap((key, at) => (amounts[at] ? [[key, amounts[at]]] : [])));
    } catch (problem) {
      if (!isGone(problem)) throw problem;
      losing.set(number, true);
      if (!lost.isOver(STATE)) throw problem;
      losing.delete(number);
      if (lost.isNews(STATE))
        log('balances not delivered', { chainId, block: number, problem: textOf(problem) });
      return null;
    }
  };

  return async (block, isComplete, readingsOf = byStandard) => {
    const { watched, asked } = asksOf(block, watches, readingsOf);
    const known = await amountsAt(block, asked);
    return {
      watches: (account) => watched.get(account) === true,
      after: (account, moved) => known?.get(keyOf(account, moved))?.amount ?? null,
      nativeBefore: (account) => known?.get(keyOf(account, NATIVE))?.before ?? null,
      unexplained: (account, moved) => known?.get(keyOf(account, moved))?.unexplained,
      mayBeSummed: (token) => known === null && isComplete && !differs(token),
    };
  };
};

const NATIVE = { token: null, tokenId: null };

/** The balances to ask for: of every account that is watched, whatever it moved. */
const asksOf = (
  { transactions }: ParsedBlock,
  watches: (account: Hex) => boolean,
  readingsOf: ReadingsOf,
): { readonly watched: ReadonlyMap<Hex, boolean>; readonly asked: ReadonlyMap<string, Asked> } => {
  const watched = new Map<Hex, boolean>();
  const asked = new Map<string, Asked>();
  const moves = (account: Hex, moved: Transfer, amount: bigint): void => {
    const isWatched = watched.get(account) ?? watches(account);
    watched.set(account, isWatched);
    if (!isWatched) return;
    const { asset, token, tokenId } = moved;
    // There is one of an ERC-721.
    if (asset === 'erc721') return;
    const key = keyOf(account, moved);
    const call = token === null ? null : balanceCall(account, token, tokenId);
    const known = asked.get(key) ?? { account, call, isCoin: asset === 'erc20', change: 0n, moves: 0 };
    asked.set(key, known);
    known.change += amount;
    known.moves += 1;
  };
  for (const effect of transactions.flatMap((transaction) => effectsOf(transaction, readingsOf))) {
    if (effect.kind !== 'transfer') continue;
    moves(effect.from, effect, -effect.value);
    moves(effect.to, effect, effect.value);
  }
  for (const transaction of transactions) {
    const payer = asked.get(keyOf(transaction.from, NATIVE));
    if (payer !== undefined) payer.change -= feeOf(transaction);
  }
  return { watched, asked };
};
