import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Chain, Hex, Token } from '../../types.ts';
import { bytesOf } from '../blocks/encoding.ts';
import type { ParsedBlock } from '../blocks/parse.ts';
import { FORMS, type Readings, UNASKED } from '../blocks/readings.ts';
import { inTransaction } from '../database/database.ts';
import type { Revision } from '../database/store.ts';
import { askNear, CONTROL } from '../node/calls.ts';
import type { EvmNode } from '../node/node.ts';
import { backoffMs } from '../node/rpc.ts';
import { type ContractAnswers, questionsTo, readAnswers } from './answers.ts';
import {
  addressOf,
  type Contract,
  createContracts,
  isCollection,
  isKnown,
  prepareContracts,
  type Row,
  rowOf,
  tokenOf,
} from './contract-table.ts';
import { formsIn, NO_SAMPLE, type Sample, sampleOf } from './seen.ts';
import { judge, openQuestions, type Verdict } from './verdict.ts';

type MetadataOptions = {
  /** The file of the index. The contracts have a table of their own in it. */
  readonly database: DatabaseSync;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'calls' | 'balances'>>;
  /** Is told when a node begins to fail when it is asked for contracts, and with null when it answers again. */
  readonly report?: (chainId: number, problem: unknown) => void;
  /** Called when the logs of a contract are read in another way than before, or that is settled, in the transaction that stores it. */
  readonly revise?: (chainId: number, contract: Hex, revision: Revision) => void;
  /** Is told when contracts of blocks that are in the index already have said something. */
  readonly onAnswer?: (chainId: number) => void;
  /** Milliseconds that a new block waits for what its new tokens say. Default: 500. */
  readonly patienceMs?: number;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
};

const HOUR_MS = 3_600_000;
/** A contract that said nothing useful is asked again after an hour, two hours, four hours, and so on up to this. */
const MAX_PAUSE_MS = 7 * 24 * HOUR_MS;
/** Between two looks for contracts that are to be asked again. */
const ROUND_MS = 30_000;
/** Contracts that are asked together, each for three things. */
const BATCH = 16;
/** A contract that takes the node long holds up only its own batch. */
const BATCHES_AT_ONCE = 4;
const MAX_CACHED = 20_000;
/** The longest pause after a failure of the node, or of the disk. */
const MAX_FAILURE_PAUSE_MS = 10_000;
/**
 * A contract that can't be asked, although the node answers other calls, is asked again after a second, 4, 16 and 64. Then the
 * contract is what is at fault, such as one that takes all gas: it says nothing.
 */
const FIRST_RETRY_MS = 1_000;
const MAX_ATTEMPTS = 5;
/** A contract whose answers do not decide how its logs are read is asked again after such pauses, this often. */
const MAX_UNDECIDED = 8;

/**
 * What tokens are called and how they count, which their contracts are asked once, soon after they are first seen. They may
 * answer anything, or nothing: then they are asked again only later. One that the node fails to ask is asked again soon.
 */
export class Metadata {
  readonly #options: Required<MetadataOptions>;
  readonly #chains: ReadonlyMap<number, Chain>;
  readonly #statements: ReturnType<typeof prepareContracts>;
  readonly #cache = new LRUCache<string, { readonly row: Row | null }>({ max: MAX_CACHED });
  readonly #stopping = new AbortController();
  /** Ends the pause between two rounds of a chain. */
  readonly #wake = new Map<number, () => void>();
  /** Waiters, which check whether their contracts were asked. */
  readonly #waiting = new Set<() => void>();
  /** The newest block of each chain that contracts were seen in. They are asked at it: a node may be behind it. */
  readonly #newest = new Map<number, number>();
  /** How often each failing node has failed. */
  readonly #failing = new Map<number, number>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: MetadataOptions) {
    this.#options = {
      ...{ patienceMs: 500, now: Date.now, report: () => {}, revise: () => {}, onAnswer: () => {} },
      ...options,
    };
    createContracts(options.database);
    this.#chains = new Map(options.chains.map((chain) => [chain.id, chain]));
    this.#statements = prepareContracts(options.database);
  }

  /** Asks contracts in the background, those that were left by the last run first. */
  start(): void {
    this.#running = Promise.all([...this.#options.nodes.keys()].map((chainId) => this.#askAll(chainId)));
  }

  /** Resolves when no call of a contract is under way. Close the nodes first, or it waits for their answers. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const wake of this.#wake.values()) wake();
    await this.#running;
  }

  /**
   * Remembers the tokens of a block. For a new one, it resolves when they were asked, but soon in any case; older ones are asked
   * in the background.
   */
  async learn(block: ParsedBlock, isNew: boolean): Promise<void> {
    const { chainId, number } = block;
    this.#newest.set(chainId, Math.max(number, this.#newest.get(chainId) ?? 0));
    const unknown = [...formsIn(block)].filter(([address, forms]) => {
      const known = this.#row(chainId, address);
      return known === null || known.block > number || (forms & ~(known.forms & known.settled)) !== 0;
    });
    if (unknown.length === 0) return;
    const seen = unknown.map(([address, forms]) => ({ address, forms, sample: sampleOf(block, address) }));
    this.#add(chainId, seen, number);
    if (isNew)
      await this.#untilAsked(
        chainId,
        unknown.map(([address]) => address),
      );
  }

  /**
   * Remembers a contract that answers as an ERC-20 does, though no log of it was seen up to this block. Resolves when it was asked
   * what it is called, but soon in any case.
   */
  async meet(chainId: number, address: Hex, block: number): Promise<void> {
    if (this.#row(chainId, address) !== null) return;
    this.#add(chainId, [{ address, forms: FORMS.amount, sample: { ...NO_SAMPLE, block } }], block);
    await this.#untilAsked(chainId, [address]);
  }

  #add(chainId: number, seen: readonly Seen[], block: number): void {
    const due = this.#options.now();
    inTransaction(this.#options.database, () => {
      for (const { address, forms, sample } of seen) {
        const read = [forms, UNASKED.coin & forms, UNASKED.nft & forms];
        this.#statements.add.run(chainId, bytesOf(address), block, due, ...read, JSON.stringify(sample));
      }
    });
    for (const { address } of seen) this.#cache.delete(keyOf(chainId, address));
    this.#wake.get(chainId)?.();
  }

  /** Forgets the contracts that were first seen in a block from this number on. */
  forget(chainId: number, fromBlock: number): void {
    this.#statements.forget.run(chainId, fromBlock);
    this.#cache.clear();
    if ((this.#newest.get(chainId) ?? 0) >= fromBlock) this.#newest.delete(chainId);
  }

  /** Null for a contract that is not a token. */
  contract(chainId: number, address: Hex): Contract | null {
    return this.#row(chainId, address);
  }

  /** Null for a contract that is not a token, or whose answers are not those of one. */
  token(chainId: number, address: Hex): Token | null {
    const chain = this.#chains.get(chainId);
    const row = this.#row(chainId, address);
    return chain === undefined || row === null ? null : tokenOf(chain, address, row);
  }

  /** How the logs of a contract are read. */
  readings(chainId: number, address: Hex): Readings {
    return this.#row(chainId, address) ?? UNASKED;
  }

  /** Whether a contract has NFTs, or several of an id. */
  isCollection(chainId: number, address: Hex): boolean {
    return isCollection(this.readings(chainId, address));
  }

  /** The known ERC-20s of a chain. */
  tokens(chainId: number): readonly Token[] {
    const chain = this.#chains.get(chainId);
    if (chain === undefined) return [];
    return this.#statements.coins.all(chainId).flatMap((found) => {
      const row = rowOf(found);
      const token = row === null ? null : tokenOf(chain, addressOf(found), row);
      return token === null ? [] : [token];
    });
  }

  #row(chainId: number, address: Hex): Row | null {
    const key = keyOf(chainId, address);
    const known = this.#cache.get(key);
    if (known !== undefined) return known.row;
    const row = rowOf(this.#statements.find.get(chainId, bytesOf(address)));
    this.#cache.set(key, { row });
    return row;
  }

  /** Asks the contracts of a chain that are due, the newest first: a flood of others does not hold up those of a new block. */
  async #askAll(chainId: number): Promise<void> {
    const batches = new Set<Promise<void>>();
    const asking = new Set<Hex>();
    const begin = (batch: readonly Hex[]): void => {
      for (const address of batch) asking.add(address);
      const asked = this.#askSeveral(chainId, batch).finally(() => {
        batches.delete(asked);
        for (const address of batch) asking.delete(address);
        this.#wake.get(chainId)?.();
      });
      batches.add(asked);
    };
    while (!this.#stopping.signal.aborted) {
      try {
        const batch = batches.size < BATCHES_AT_ONCE ? this.#due(chainId, asking) : [];
        if (batch.length > 0) begin(batch);
        else await this.#pause(chainId, this.#untilDue(chainId));
      } catch {
        // The disk's problem, which the follower of the chain reports.
        await this.#pause(chainId, MAX_FAILURE_PAUSE_MS);
      }
    }
    await Promise.all(batches);
  }

  #due(chainId: number, asking: ReadonlySet<Hex>): readonly Hex[] {
    const rows = this.#statements.due.all(chainId, this.#options.now(), BATCH + asking.size);
    return rows
      .map(addressOf)
      .filter((address) => !asking.has(address))
      .slice(0, BATCH);
  }

  /** Milliseconds until a contract is due that is not yet. */
  #untilDue(chainId: number): number {
    const now = this.#options.now();
    const { next = null } = this.#statements.next.get(chainId, now) ?? {};
    return next === null ? ROUND_MS : Math.min(ROUND_MS, Number(next) - now);
  }

  /** Asks contracts, and pauses when the node fails, or the disk. */
  async #askSeveral(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#ask(chainId, addresses);
      if (this.#failing.delete(chainId)) this.#options.report(chainId, null);
    } catch (problem) {
      if (signal.aborted) return;
      const failures = (this.#failing.get(chainId) ?? 0) + 1;
      this.#failing.set(chainId, failures);
      if (failures === 1) this.#options.report(chainId, problem);
      const pauseMs = backoffMs(failures, MAX_FAILURE_PAUSE_MS);
      await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Rejects when the node fails, with what it said of some contracts kept. */
  async #ask(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const node = this.#options.nodes.get(chainId);
    if (node === undefined) return;
    const block = this.#newest.get(chainId);
    const asked = addresses.flatMap((address) => {
      const row = this.#row(chainId, address);
      if (row === null) return [];
      const open = row.forms & ~row.settled;
      return {
        address,
        row,
        open,
        calls: [...questionsTo(address), ...openQuestions(address, open, row.sample)],
      };
    });
    const answers = await Promise.allSettled(
      askNear(
        node,
        asked.flatMap(({ calls }) => calls),
        block,
      ),
    );
    const all = await Promise.all(
      asked.map(async ({ address, row, open, calls }): Promise<Asked> => {
        const outcomes = answers.splice(0, calls.length);
        const said = saidIn(outcomes, row);
        const more = outcomes.slice(questionsTo(address).length).map(answerIn);
        const verdict = outcomes.every(isFulfilled)
          ? await judge({ ...row, node, address, open, said, known: row, answers: more }).catch(() => null)
          : null;
        return { address, open, outcomes, verdict };
      }),
    );
    const isUnanswered = !all.every(isAnswered);
    const control = isUnanswered ? await Promise.allSettled(askNear(node, [CONTROL], block)) : [];
    const problem = control.find((outcome) => outcome.status === 'rejected');
    try {
      inTransaction(this.#options.database, () => {
        for (const each of all) this.#keep(chainId, each, problem === undefined);
      });
    } finally {
      for (const address of addresses) this.#cache.delete(keyOf(chainId, address));
    }
    for (const waiting of this.#waiting) waiting();
    this.#options.onAnswer(chainId);
    if (problem !== undefined) throw problem.reason;
  }

  /** `isNodeWell` says that the node answers, whatever the contract does. */
  #keep(chainId: number, asked: Asked, isNodeWell: boolean): void {
    const { address, open, outcomes, verdict } = asked;
    const row = rowOf(this.#statements.find.get(chainId, bytesOf(address)));
    // Its block may be gone.
    if (row === null) return;
    const isWhole = isAnswered(asked);
    if (!isWhole && !isNodeWell) return;
    const now = this.#options.now();
    const said = saidIn(outcomes, row);
    const attempts = isWhole ? 0 : row.attempts + 1;
    if (attempts > 0 && attempts < MAX_ATTEMPTS) {
      const due = now + FIRST_RETRY_MS * 4 ** (attempts - 1);
      this.#write(chainId, address, { ...row, ...said, due, attempts });
      return;
    }
    const isLast = row.failures >= MAX_UNDECIDED;
    const read = readingsAfter(row, open, verdict, isLast);
    const isDecided = (open & ~read.settled & ~(read.coin | read.nft)) === 0;
    const isDone = isDecided && isKnown({ ...row, ...said });
    const pause = isDecided ? HOUR_MS * 2 ** row.failures : FIRST_RETRY_MS * 4 ** row.failures;
    const isNew = (row.forms & ~(open | row.settled)) !== 0;
    const due = isNew ? now : isDone ? null : now + Math.min(MAX_PAUSE_MS, pause);
    const failures = row.failures + (isDone ? 0 : 1);
    this.#write(chainId, address, { ...row, ...said, ...read, due, failures, attempts: 0 });
    const isSettled = (row.forms & ~read.settled) === 0;
    this.#options.revise(chainId, address, { before: row, after: { ...row, ...read }, isSettled });
  }

  #write(chainId: number, address: Hex, row: Row & { readonly due: number | null }): void {
    const { name, symbol, decimals, failures, due, attempts, coin, nft, settled } = row;
    const values = [name, symbol, decimals, failures, due, attempts, coin, nft, settled];
    this.#statements.keep.run(...values, chainId, bytesOf(address));
    this.#cache.delete(keyOf(chainId, address));
  }

  /** Resolves when the contracts were asked, or the patience is at its end. */
  async #untilAsked(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const done = Promise.withResolvers<void>();
    const timer = setTimeout(done.resolve, this.#options.patienceMs);
    const look = () => {
      const now = this.#options.now();
      const isDue = (address: Hex) => {
        const due = this.#statements.find.get(chainId, bytesOf(address))?.due ?? null;
        return due !== null && Number(due) <= now;
      };
      if (!addresses.some(isDue)) done.resolve();
    };
    this.#waiting.add(look);
    look();
    await done.promise;
    this.#waiting.delete(look);
    clearTimeout(timer);
  }

  /** Resolves after some time, or when there are new contracts of the chain. */
  async #pause(chainId: number, milliseconds: number): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake.set(chainId, woken.resolve);
    const timer = setTimeout(woken.resolve, milliseconds).unref();
    await woken.promise;
    clearTimeout(timer);
  }
}

/** A contract with logs of these forms. */
type Seen = { readonly address: Hex; readonly forms: number; readonly sample: Sample };

/** What came of asking a contract. */
type Asked = {
  readonly address: Hex;
  /** The forms of its logs that were open. */
  readonly open: number;
  /** What it says of itself, and whatever else it was asked. */
  readonly outcomes: readonly PromiseSettledResult<Hex | null>[];
  /** Null where the node has not said all that it takes. */
  readonly verdict: Verdict | null;
};

const isAnswered = ({ outcomes, verdict }: Asked): boolean => verdict !== null && outcomes.every(isFulfilled);

const isFulfilled = ({ status }: PromiseSettledResult<unknown>): boolean => status === 'fulfilled';

const answerIn = (outcome: PromiseSettledResult<Hex | null>): Hex | null =>
  outcome.status === 'fulfilled' ? outcome.value : null;

/** The readings of a contract after a verdict. A contract that can't be asked is read as before, for good. */
const readingsAfter = (row: Row, open: number, verdict: Verdict | null, isLast: boolean): Verdict => {
  if (verdict === null) return { coin: row.coin, nft: row.nft, settled: row.settled | open };
  return {
    coin: (row.coin & ~open) | verdict.coin,
    nft: (row.nft & ~open) | verdict.nft,
    settled: row.settled | (isLast ? open : verdict.settled),
  };
};

/** The results of a contract's calls, or its earlier ones where it could not be asked. */
const saidIn = (outcomes: readonly PromiseSettledResult<Hex | null>[], before: Contract): ContractAnswers => {
  const [name, symbol, decimals] = outcomes.map(({ status }) => status === 'fulfilled');
  const said = readAnswers(outcomes.map(answerIn));
  return {
    name: name ? said.name : before.name,
    symbol: symbol ? said.symbol : before.symbol,
    decimals: decimals ? said.decimals : before.decimals,
  };
};

const keyOf = (chainId: number, address: Hex): string => `${chainId}/${address}`;
