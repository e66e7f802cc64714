import { setTimeout as sleep, setImmediate as yieldToEvents } from 'node:timers/promises';
import type { BlockRef, FetchedBlock } from '../../node/answers.ts';
import type { EvmNode } from '../../node/node.ts';
import { backoffMs } from '../../node/rpc.ts';
import type { BlockListener, ChainStatus, ChainTraces } from '../../source.ts';
import type { Balances } from '../blocks/balances.ts';
import { type ParsedBlock, parseBlock } from '../blocks/parse.ts';
import type { Index } from '../database/store.ts';
import { Branch, type Range } from './branch.ts';
import { Prefetch } from './prefetch.ts';
import { type Log, Problems } from './problems.ts';

type FollowOptions = {
  readonly node: EvmNode;
  readonly index: Index;
  /**
   * The first block to index. Null: the genesis block of a short chain, else the oldest that is kept for reorgs; or the first that
   * the node has, if it lacks that one.
   */
  readonly startBlock: number | null;
  /**
   * Fetches what must be known before a block is added. It resolves with the balances at the end of the block, which only a
   * new one needs.
   */
  readonly prepare: (block: ParsedBlock, isNew: boolean) => Promise<Balances>;
  /** Called with new and with removed blocks, within the transaction that changes the index. */
  readonly listener: BlockListener;
  /** Called once blocks were added at the head of the index, with these; with null once some were removed there. */
  readonly changed: (blocks: readonly ParsedBlock[] | null) => void;
  /** Called once older blocks were added. */
  readonly filled: () => void;
  /** How far the blocks of the index are traced. */
  readonly traces: () => ChainTraces;
  readonly log: Log;
};

/** A chain of fewer blocks is indexed as a whole by default. */
const SHORT_CHAIN = 10_000;
/** The number of blocks below the head that a first start adds in order: a reorg of them is followed like any later one. */
const KEPT_BLOCKS = 64;
/**
 * The transactions of blocks that are added together, while the chain is caught up with. Nothing is answered while they
 * are written.
 */
export const BATCH_TRANSACTIONS = 500;
const PROGRESS_MS = 5_000;
const MAX_PAUSE_MS = 10_000;
/**
 * What a follower does: it learns of the head, adds blocks above the index, and older ones below it. Contracts are asked
 * elsewhere.
 */
type Task = 'head' | 'forward' | 'backfill' | 'contracts';

/**
 * Keeps the index of a chain where the chain is: forward from the newest indexed block in order, and after the first start also
 * backwards to the first block that is wanted. A failure of the node, of the index or of the listener makes a pause, never a
 * gap.
 */
export class Follower {
  readonly #options: FollowOptions;
  readonly chainId: number;
  readonly #stopping = new AbortController();
  readonly #branch: Branch;
  readonly #problems: Problems<Task>;
  readonly #newer = new Prefetch((number) => this.#branch.fetch(number));
  readonly #older = new Prefetch((number) => this.#branch.fetch(number));
  #head: BlockRef | null = null;
  /** Counts events that may give a task something to do. */
  #revision = 0;
  #onRevision: (() => void)[] = [];
  /** When the index was last at the head, or last logged its progress. */
  #progressAt = { forward: Date.now(), backfill: Date.now() };
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: FollowOptions) {
    this.#options = options;
    this.chainId = options.node.chainId;
    this.#branch = new Branch({ ...options, signal: this.#stopping.signal });
    this.#problems = new Problems({
      chainId: this.chainId,
      node: options.node.name,
      failures: {
        head: 'chain not followed',
        forward: 'chain not followed',
        backfill: 'older blocks not indexed',
        contracts: 'contracts not asked',
      },
      success: 'chain followed again',
      log: options.log,
    });
  }

  start(): void {
    this.#options.node.onHead(
      (head) => this.#seen(head),
      (problem) => this.#fail('head', problem),
    );
    this.#running = Promise.all([
      this.#repeat('forward', (head) => this.#forward(head)),
      this.#repeat('backfill', () => this.#backfill()),
    ]);
  }

  status(): ChainStatus {
    const range = this.#options.index.range(this.chainId);
    const head = this.#head ?? range?.head;
    return {
      chainId: this.chainId,
      index:
        head === undefined || range === null
          ? null
          : {
              head: Math.max(head.number, range.head.number),
              headTime: Math.max(head.time, range.head.time),
              indexedFrom: range.lowest.number,
              indexedTo: range.head.number,
              behind: Math.max(0, head.number - range.head.number),
              traces: this.#options.traces(),
            },
      problem: this.#problems.first,
    };
  }

  /** Says why contracts can't be asked now; null once they can. */
  reportContracts(problem: unknown): void {
    if (problem === null) this.#problems.succeed('contracts');
    else this.#fail('contracts', problem);
  }

  /** Closes the node. Resolves after the last change of the index. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#options.node.close();
    await this.#running;
    try {
      this.#options.index.writes.keep();
    } catch {
      // What could not be kept is fetched again.
    }
  }

  #seen(head: BlockRef): void {
    this.#head = head;
    this.#problems.succeed('head');
    this.#wake();
  }

  #wake(): void {
    this.#revision += 1;
    for (const resolve of this.#onRevision.splice(0)) resolve();
  }

  #fail(task: Task, error: unknown): void {
    if (!this.#stopping.signal.aborted) this.#problems.fail(task, error);
  }

  /** Repeats a step with the newest head, with a pause after a failure, and a wait while there is nothing to do. */
  async #repeat(task: Task, step: (head: BlockRef) => Promise<'go on' | 'wait'>): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      const revision = this.#revision;
      try {
        const next = this.#head === null ? 'wait' : await step(this.#head);
        failures = 0;
        if (this.#head !== null) this.#problems.succeed(task);
        if (next === 'go on') await yieldToEvents();
        else if (revision === this.#revision && !signal.aborted)
          await new Promise<void>((resolve) => this.#onRevision.push(resolve));
      } catch (error) {
        failures += 1;
        // A single failure is not reported: the chain may have changed between two requests.
        if (failures > 1) this.#fail(task, error);
        await sleep(backoffMs(failures, MAX_PAUSE_MS), undefined, { signal }).catch(() => {});
      }
    }
  }

  async #forward(head: BlockRef): Promise<'go on' | 'wait'> {
    const { index } = this.#options;
    const range = index.range(this.chainId);
    if (range === null) return this.#begin(head);
    if (head.number > range.head.number) return this.#append(range, head);
    if (index.hashAt(this.chainId, head.number) !== head.hash) return this.#unwind(range, head);
    // Where a balancer has several nodes, one that is behind has an older block of the same chain as its head.
    if (head.number < range.head.number && (await this.#branch.isRolledBack(range))) {
      this.#remove(range, head);
      return 'go on';
    }
    this.#progressAt.forward = Date.now();
    return 'wait';
  }

  /**
   * Adds the first block. It is below those that a reorg may soon replace, and below those that are announced, as where the
   * index is made anew in another format.
   */
  async #begin(head: BlockRef): Promise<'go on'> {
    const { startBlock, index, log, node } = this.#options;
    const kept = Math.max(0, head.number - KEPT_BLOCKS);
    const start = startBlock ?? (await this.#branch.firstFrom(head.number < SHORT_CHAIN ? 0 : kept, head));
    if (start > head.number)
      throw new Error(`expected to begin at most at the head, block ${head.number}, got ${start}`);
    const silent = index.silentUntil(this.chainId) ?? head.number;
    const fetched = await this.#branch.fetch(Math.max(start, Math.min(kept, silent + 1)));
    index.setSilentUntil(this.chainId, silent);
    await this.#add([fetched], start);
    this.#wake();
    log('indexing a chain', { chainId: this.chainId, node: node.name, from: start, head: head.number });
    return 'go on';
  }

  async #append(range: Range, head: BlockRef): Promise<'go on'> {
    const [first, ...more] = await this.#newer.take(range.head.number + 1, head.number, BATCH_TRANSACTIONS);
    if (first.block.parentHash !== range.head.hash) {
      this.#newer.clear();
      // Prefetched blocks may belong to a branch that the node has abandoned meanwhile.
      const tip = await this.#options.node.find(first.block.number);
      return tip === null || tip.parentHash === range.head.hash ? 'go on' : this.#unwind(range, tip);
    }
    const blocks = [first];
    for (const next of more) {
      if (next.block.parentHash !== blocks.at(-1)?.block.hash) break;
      blocks.push(next);
    }
    await this.#add(blocks);
    const newest = range.head.number + blocks.length;
    this.#progress('forward', 'indexing', { block: newest, head: head.number, behind: head.number - newest });
    return 'go on';
  }

  async #add(fetched: readonly FetchedBlock[], start?: number): Promise<void> {
    const { index, listener, prepare, changed } = this.#options;
    const blocks = fetched.map((block) => parseBlock(this.chainId, block));
    const silent = index.silentUntil(this.chainId) ?? -1;
    const isNew = ({ number }: ParsedBlock) => number > silent;
    const prepared = await Promise.all(
      blocks.map(async (block) => ({ block, known: await prepare(block, isNew(block)) })),
    );
    // The transaction of new blocks also writes the rows of older ones that still wait: in one turn, they would hold up answers.
    while (!index.writes.keepSome(true)) await yieldToEvents();
    index.transaction(() => {
      for (const { block, known } of prepared)
        index.append(block, isNew(block) ? (added) => listener.added(added) : null, known, start);
    });
    changed(blocks);
  }

  /** Removes the blocks that are not in the chain of `tip`: all of them where it has none, as it is another chain. */
  async #unwind(range: Range, tip: BlockRef): Promise<'go on'> {
    const common = await this.#branch.commonBlock(range, tip);
    const to = common?.number ?? -1;
    const blocks = range.head.number - to;
    if (common === null) await this.#branch.confirmAnother(range);
    else if (blocks > KEPT_BLOCKS)
      await this.#branch.confirm(tip.number, (again) => again?.hash === tip.hash);
    this.#remove(range, common, tip);
    return 'go on';
  }

  /** Removes the blocks above `common`, the newest one that the chain still has; null for none. */
  #remove(range: Range, common: BlockRef | null, tip: BlockRef | null = common): void {
    const { index, listener, changed, log } = this.#options;
    const to = common?.number ?? -1;
    this.#newer.clear();
    if (common === null) this.#older.clear();
    index.transaction(() => {
      // The blocks that replace the removed ones are announced. Of a long chain in the place of another one, most are history.
      const before = common === null ? Infinity : (index.silentUntil(this.chainId) ?? -1);
      const history =
        common === null && tip !== null && tip.number >= SHORT_CHAIN ? tip.number - KEPT_BLOCKS : to;
      index.setSilentUntil(this.chainId, Math.min(before, history));
      index.unwind(this.chainId, to, (chainId, from) => listener.removed(chainId, from));
    });
    changed(null);
    const blocks = range.head.number - to;
    if (common !== null) log('chain reorganised', { chainId: this.chainId, blocks, from: to + 1 });
    else
      log('index of a chain removed', {
        chainId: this.chainId,
        problem: `block ${range.lowest.number} is another one now, as where a local chain was started anew`,
      });
  }

  async #backfill(): Promise<'go on' | 'wait'> {
    const { index, prepare, filled, log } = this.#options;
    const range = index.range(this.chainId);
    if (range === null || range.lowest.number <= range.from) {
      this.#progressAt.backfill = Date.now();
      return range === null || index.list(this.chainId) ? 'wait' : 'go on';
    }
    const taking = this.#older.take(range.lowest.number - 1, range.from, BATCH_TRANSACTIONS);
    const fetched = await taking.catch((problem) => {
      index.writes.keep();
      throw problem;
    });
    const blocks: ParsedBlock[] = [];
    let above: BlockRef = range.lowest;
    for (const older of fetched) {
      if (older.block.hash !== above.parentHash) break;
      blocks.push(parseBlock(this.chainId, older));
      above = older.block;
    }
    if (blocks.length === 0)
      throw new Error(`expected block ${above.parentHash} below block ${above.number}`);
    await Promise.all(blocks.map((block) => prepare(block, false)));
    // Another chain may have taken its place meanwhile.
    if (index.range(this.chainId)?.lowest.hash !== range.lowest.hash) return 'go on';
    index.prepend(blocks);
    while (!index.writes.keepSome()) await yieldToEvents();
    const left = above.number - range.from;
    if (left === 0) index.writes.keep();
    filled();
    if (left === 0) log('chain indexed', { chainId: this.chainId, from: range.from });
    else this.#progress('backfill', 'indexing older blocks', { block: above.number, left });
    return 'go on';
  }

  #progress(task: 'forward' | 'backfill', message: string, details: Readonly<Record<string, unknown>>): void {
    if (Date.now() - this.#progressAt[task] < PROGRESS_MS) return;
    this.#progressAt[task] = Date.now();
    this.#options.log(message, { chainId: this.chainId, ...details });
  }
}
