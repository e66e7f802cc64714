import { setTimeout as sleep } from 'node:timers/promises';
import type { EvmNode } from '../../node/node.ts';
import { backoffMs } from '../../node/rpc.ts';
import type { BlockListener, ChainTraces } from '../../source.ts';
import type { Balances } from '../blocks/balances.ts';
import { mayMoveInside, type ParsedBlock } from '../blocks/parse.ts';
import type { Index } from '../database/store.ts';
import type { Announced } from '../database/untraced.ts';
import { type Log, Problems } from './problems.ts';

type TracerOptions = {
  readonly node: Pick<EvmNode, 'chainId' | 'name' | 'traces'>;
  readonly index: Index;
  /** The balances at the end of a block, of accounts that its effects concern and webhooks watch. */
  readonly balances: (block: ParsedBlock) => Promise<Balances>;
  /** Called with the internal transfers of announced blocks, in the transaction that adds them to the index. */
  readonly listener: Pick<BlockListener, 'traced'>;
  /** Called once what moved inside of calls is in the index, with that alone; with null when the node fails to trace. */
  readonly changed: (blocks: readonly ParsedBlock[] | null) => void;
  readonly log: Log;
};

/** The number of blocks that are traced at a time, of those that are announced, and of history. */
const AT_ONCE = 4;
/** The number of times that a block fails, while others do not, before the others go on without it. */
const MAX_FAILURES = 3;
/** Milliseconds between two attempts, while the node traces nothing, and for a block that was set aside. */
const MAX_PAUSE_MS = 30_000;
const MAX_ASIDE_MS = 300_000;
/** Milliseconds between two looks for blocks to trace, unless new ones are announced. */
const IDLE_MS = 1_000;

const UNKNOWN: Balances = { watches: () => false, after: () => null };

/** A block with its internal transfers, or the reason why they are not known. Null for a block that is no longer in the index. */
type Outcome = {
  readonly number: number;
  readonly traced: ParsedBlock | null;
  /** The positions of those of its transactions of which only the trace says whether they failed. */
  readonly judged: ReadonlySet<number>;
  readonly balances: Balances;
  readonly problem: Error | null;
};

const NOTHING = { traced: null, judged: new Set<number>(), balances: UNKNOWN } as const;

/** A block that failed while others did not. */
type Aside = {
  readonly which: Announced;
  readonly failures: number;
  readonly problem: Error;
  /** When it is tried again, in milliseconds since 1970. */
  readonly due: number;
};

/**
 * Traces the blocks of an index after they were added to it. What calls within their transactions moved is added to the index,
 * and announced in the order of the blocks. What the node fails to trace is asked for again until it succeeds. A block that fails
 * again and again while the node traces others is set aside, so as not to hold them up, and announced once it is traced.
 */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #problems: Problems<Announced>;
  readonly #stopping = new AbortController();
  /** How often blocks have failed that are not set aside. */
  readonly #failures = new Map<number, number>();
  readonly #aside = new Map<number, Aside>();
  readonly #waiting = new Set<() => void>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: TracerOptions) {
    this.#options = options;
    const { chainId, name } = options.node;
    this.#problems = new Problems({
      chainId,
      node: name,
      failures: { announced: 'blocks not traced', history: 'older blocks not traced' },
      success: 'blocks traced again',
      log: options.log,
    });
  }

  start(): void {
    this.#running = Promise.all([
      this.#repeat('announced', () => this.#traceAnnounced()),
      this.#repeat('history', () => this.#traceHistory()),
      this.#repeat('history', () => this.#traceAside()),
    ]);
  }

  /** Looks for new blocks at once. */
  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Forgets the blocks that failed from a number on: others take their places. */
  forget(fromNumber: number): void {
    for (const blocks of [this.#failures, this.#aside])
      for (const number of blocks.keys()) if (number >= fromNumber) blocks.delete(number);
  }

  status(): ChainTraces {
    const { index, node } = this.#options;
    const [[number, aside] = []] = this.#aside;
    const ofBlock = aside ? `node ${node.name}: block ${number}: ${aside.problem.message}` : null;
    return { behind: index.untraced.count(node.chainId), problem: this.#problems.first ?? ofBlock };
  }

  /** The node must be closed before. Resolves after the last change of the index. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  /** Repeats a step, with a pause after a failure, and a wait while there is nothing to do. */
  async #repeat(which: Announced, step: () => Promise<'go on' | 'wait'>): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const next = await step();
        failures = 0;
        if (next === 'wait' && !signal.aborted) await this.#wait();
      } catch (problem) {
        if (signal.aborted) return;
        failures += 1;
        this.#problems.fail(which, problem);
        this.#options.changed(null);
        await sleep(backoffMs(failures, MAX_PAUSE_MS), undefined, { signal }).catch(() => {});
      }
    }
  }

  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, IDLE_MS).unref();
    this.#waiting.add(resolve);
    await promise;
    this.#waiting.delete(resolve);
    clearTimeout(timer);
  }

  /** Rejects with the reason why the first block could not be traced, as long as it is not set aside. */
  async #traceAnnounced(): Promise<'go on' | 'wait'> {
    const outcomes = await this.#traceFirst('announced');
    const [first] = outcomes;
    if (first === undefined) return this.#done('announced');
    if (first.problem !== null) {
      if (
        (await this.#tracesOthers('announced', outcomes)) &&
        this.#noteFailure('announced', first, first.problem)
      )
        return 'go on';
      throw first.problem;
    }
    for (const outcome of outcomes) {
      if (outcome.problem !== null) break;
      this.#keep('announced', outcome);
    }
    return 'go on';
  }

  /** Whether the node traces other blocks than the first one: those behind it, or else the last one. */
  async #tracesOthers(which: Announced, [first, ...others]: readonly Outcome[]): Promise<boolean> {
    if (others.some(({ problem }) => problem === null)) return true;
    const { index, node } = this.#options;
    const last = index.untraced.last(node.chainId, which);
    if (last === null || last === first?.number) return false;
    return (await this.#trace(which, last)).problem === null;
  }

  /** In no order, since nothing is announced. Rejects when the node traces none of them. */
  async #traceHistory(): Promise<'go on' | 'wait'> {
    const outcomes = await this.#traceFirst('history');
    const [first] = outcomes;
    if (first === undefined) return this.#done('history');
    if (first.problem !== null && !(await this.#tracesOthers('history', outcomes))) throw first.problem;
    for (const outcome of outcomes)
      if (outcome.problem === null) this.#keep('history', outcome);
      else this.#noteFailure('history', outcome, outcome.problem);
    return 'go on';
  }

  /** Tries a block again that was set aside. */
  async #traceAside(): Promise<'go on' | 'wait'> {
    const now = Date.now();
    const [number, aside] = [...this.#aside].find(([, { due }]) => due <= now) ?? [];
    if (number === undefined || aside === undefined) return 'wait';
    const outcome = await this.#trace(aside.which, number);
    // It may be another block by now.
    if (this.#aside.get(number) !== aside) return 'go on';
    if (outcome.problem === null) {
      this.#keep(aside.which, outcome);
      this.#aside.delete(number);
      return 'go on';
    }
    const failures = aside.failures + 1;
    const due = Date.now() + backoffMs(failures, MAX_ASIDE_MS);
    this.#aside.set(number, { ...aside, failures, due, problem: outcome.problem });
    return 'go on';
  }

  #done(which: Announced): 'wait' {
    this.#problems.succeed(which);
    return 'wait';
  }

  /** Counts a failure of a block while others are traced. Returns whether it is set aside for it. */
  #noteFailure(which: Announced, { number }: Outcome, problem: Error): boolean {
    const failures = (this.#failures.get(number) ?? 0) + 1;
    this.#failures.set(number, failures);
    if (failures < MAX_FAILURES) return false;
    this.#failures.delete(number);
    this.#aside.set(number, { which, failures, problem, due: Date.now() + backoffMs(failures) });
    const { node, log } = this.#options;
    log('block not traced', {
      chainId: node.chainId,
      node: node.name,
      block: number,
      problem: problem.message,
    });
    return true;
  }

  async #traceFirst(which: Announced): Promise<readonly Outcome[]> {
    const { index, node } = this.#options;
    const numbers = index.untraced
      .first(node.chainId, which, AT_ONCE + this.#aside.size)
      .filter((number) => !this.#aside.has(number))
      .slice(0, AT_ONCE);
    return Promise.all(numbers.map((number) => this.#trace(which, number)));
  }

  async #trace(which: Announced, number: number): Promise<Outcome> {
    const { index, node, balances } = this.#options;
    const block = index.block(node.chainId, number);
    if (block === null) return { ...NOTHING, number, problem: null };
    try {
      const traced = await this.#traced(block);
      const judged = judgedIn(block);
      const isAnnounced =
        which === 'announced' &&
        traced.transactions.some(({ internal, index: at }) => internal.length > 0 || judged.has(at));
      const known = isAnnounced ? await balances(newOnly(traced, judged)) : UNKNOWN;
      return { number, traced, judged, balances: known, problem: null };
    } catch (problem) {
      if (!(problem instanceof Error)) throw problem;
      return { ...NOTHING, number, problem };
    }
  }

  async #traced(block: ParsedBlock): Promise<ParsedBlock> {
    const { number, hash, transactions } = block;
    const wanted = transactions.filter(mayMoveInside).map(({ index }) => index);
    // The release before stored blocks with their traces.
    const isKnown = transactions.some(({ internal }) => internal.length > 0);
    const traces = isKnown
      ? new Map()
      : await this.#options.node.traces({
          number,
          hash,
          transactions: transactions.map((each) => each.hash),
          wanted,
        });
    return {
      ...block,
      transactions: transactions.map((transaction) => {
        const trace = mayMoveInside(transaction) ? traces.get(transaction.index) : undefined;
        const internal = trace?.internal ?? [];
        if (trace === undefined || transaction.success !== null) return { ...transaction, internal };
        const { success, created } = trace;
        return { ...transaction, success, created, internal };
      }),
    };
  }

  #keep(which: Announced, { number, traced, judged, balances }: Outcome): void {
    const { index, listener, changed } = this.#options;
    this.#failures.delete(number);
    if (traced === null) return;
    const announce: Parameters<Index['traced']['add']>[1] =
      which === 'announced' ? (block, before) => listener.traced(block, before) : null;
    index.traced.add(traced, announce, balances, judged);
    const news = {
      ...traced,
      transactions: traced.transactions.filter(
        ({ index: at, internal }) => internal.length > 0 || judged.has(at),
      ),
    };
    if (news.transactions.length > 0) changed([newOnly(news, judged)]);
    this.#problems.succeed(which);
  }
}

/** The transactions of a block of which it was not known whether they failed. */
const judgedIn = ({ transactions }: ParsedBlock): ReadonlySet<number> =>
  new Set(transactions.flatMap(({ success, index }) => (success === null ? [index] : [])));

/** A traced block of which only what its traces say is left to add. */
const newOnly = (block: ParsedBlock, judged: ReadonlySet<number>): ParsedBlock => ({
  ...block,
  transactions: block.transactions.map((transaction) =>
    judged.has(transaction.index) ? transaction : { ...transaction, value: 0n, logs: [] },
  ),
});
