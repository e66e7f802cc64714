import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import type { Hex, Transfer } from '../../types.ts';
import type { Balances } from '../blocks/balances.ts';
import { effectsOf, type ParsedBlock } from '../blocks/parse.ts';
import { byStandard, type ReadingsOf } from '../blocks/readings.ts';
import { CONTROL, isGone, numberIn } from '../node/calls.ts';
import type { EvmNode } from '../node/node.ts';
import type { Log } from './problems.ts';

const balanceOfCoin = parseFunction('function balanceOf(address account) returns (uint256)');
const balanceOfItem = parseFunction('function balanceOf(address account, uint256 id) returns (uint256)');

type Call = { readonly to: Hex; readonly data: Hex };

/** A balance that is asked for. */
type Asked = {
  readonly account: Hex;
  /** The call of its token; null for the native asset. */
  readonly call: Call | null;
  /** What the block adds to it, as far as transactions and logs say. */
  change: bigint;
};

const keyOf = (account: Hex, { token, tokenId }: Pick<Transfer, 'token' | 'tokenId'>): string =>
  `${account}/${token ?? ''}/${tokenId ?? ''}`;

const callOf = (account: Hex, token: Hex, tokenId: Transfer['tokenId']): Call => {
  const data =
    tokenId === null ? encodeData(balanceOfCoin, [account]) : encodeData(balanceOfItem, [account, tokenId]);
  return { to: token, data };
};

/** How often a node may contradict itself before the block is prepared anew. */
const MAX_DOUBTS = 5;

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
 * Asks a node for the balances at the end of a block that webhooks tell of: those of the native asset, and where the sums of
 * the index are not balances, as older blocks are missing, those of tokens too. Whoever asks asks again after a failure. Two
 * are given up after some time: the state of a block that the node has lost, and a contract that it can't ask although it
 * answers other calls. Their changes are not told, and a log line says so.
 */
export const createBalanceReader = ({
  node,
  watches,
  log,
  patienceMs = 10_000,
  doubtMs = 100,
}: Options): BalanceReader => {
  const { chainId } = node;
  const lost = createPatience(patienceMs);
  const unasked = createPatience(patienceMs);

  /** What a contract says; null where it says nothing, or is given up. */
  const amountOf = async (answer: Promise<Hex | null>, token: Hex, block: number): Promise<bigint | null> => {
    try {
      const said = await answer;
      unasked.end(token);
      return numberIn(said);
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

  /** The balances at the end of the block before. Null when the node does not say all of them. */
  const askBefore = async (block: number, asked: readonly Asked[]) => {
    try {
      return await ask(block - 1, asked, async (answer) => numberIn(await answer));
    } catch {
      return null;
    }
  };

  /**
   * A node that is asked for the state of its newest block while it adds another may answer with the state after that one
   * (Anvil does). So what is not the balance before and what the block is known to have changed, since calls within its
   * transactions moved something too or since the answer is wrong, counts once the node says it twice in a row.
   */
  const askUntilSure = async (block: number, asked: readonly Asked[]) => {
    const [before, first] = await Promise.all([askBefore(block, asked), ask(block, asked)]);
    const isExpected = (amount: bigint | null, at: number) => {
      const known = before?.[at] ?? null;
      return amount === null || (known !== null && amount === known + (asked[at]?.change ?? 0n));
    };
    if (first.every(isExpected)) return first;
    let last = first;
    for (let count = 0; count < MAX_DOUBTS; count += 1) {
      await delay(doubtMs);
      const again = await ask(block, asked);
      if (again.every((amount, at) => amount === last[at])) return again;
      last = again;
    }
    throw new Error(`expected one answer for the balances of block ${block}, got different ones`);
  };

  /** Null when the node can't say what was at the block. */
  const amountsAt = async (
    block: number,
    asked: ReadonlyMap<string, Asked>,
  ): Promise<ReadonlyMap<string, bigint | null> | null> => {
    if (asked.size === 0) return new Map();
    try {
      const amounts = await askUntilSure(block, [...asked.values()]);
      if (lost.end(STATE)) log('balances delivered again', { chainId, block });
      return new Map([...asked.keys()].map((key, at) => [key, amounts[at] ?? null]));
    } catch (problem) {
      if (!isGone(problem) || !lost.isOver(STATE)) throw problem;
      if (lost.isNews(STATE)) log('balances not delivered', { chainId, block, problem: textOf(problem) });
      return null;
    }
  };

  return async (block, isComplete, readingsOf = byStandard) => {
    const { watched, asked } = asksOf(block, watches, isComplete, readingsOf);
    const known = await amountsAt(block.number, asked);
    // Where sums are not balances, no balance is better than a wrong one.
    if (known === null && !isComplete) return { watches: () => false, after: () => null };
    return {
      watches: (account) => watched.has(account),
      after: (account, moved) => known?.get(keyOf(account, moved)) ?? null,
    };
  };
};

const NATIVE = { token: null, tokenId: null };

/** The balances to ask for. The native asset's are always asked for, and those of tokens where the sums of the index are not balances. */
const asksOf = (
  { transactions }: ParsedBlock,
  watches: (account: Hex) => boolean,
  isComplete: boolean,
  readingsOf: ReadingsOf,
): { readonly watched: ReadonlySet<Hex>; readonly asked: ReadonlyMap<string, Asked> } => {
  const watched = new Set<Hex>();
  const asked = new Map<string, Asked>();
  const moves = (account: Hex, moved: Transfer, amount: bigint): void => {
    if (!watched.has(account) && !watches(account)) return;
    watched.add(account);
    const { asset, token, tokenId } = moved;
    // There is one of an ERC-721.
    if (token !== null && (isComplete || asset === 'erc721')) return;
    const key = keyOf(account, moved);
    const call = token === null ? null : callOf(account, token, tokenId);
    const known = asked.get(key) ?? { account, call, change: 0n };
    asked.set(key, known);
    known.change += amount;
  };
  for (const effect of transactions.flatMap((transaction) => effectsOf(transaction, readingsOf))) {
    if (effect.kind !== 'transfer') continue;
    moves(effect.from, effect, -effect.value);
    moves(effect.to, effect, effect.value);
  }
  for (const { from, gasUsed, effectiveGasPrice } of transactions) {
    const payer = asked.get(keyOf(from, NATIVE));
    if (payer !== undefined) payer.change -= gasUsed * effectiveGasPrice;
  }
  return { watched, asked };
};
