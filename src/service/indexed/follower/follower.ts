import { setTimeout as sleep, setImmediate as yieldToEvents } from 'node:timers/promises';
import type { BlockListener, ChainStatus } from '../../source.ts';
import type { Balances } from '../blocks/balances.ts';
import { type ParsedBlock, parseBlock } from '../blocks/parse.ts';
import type { Index } from '../database/store.ts';
import type { BlockRef, FetchedBlock } from '../node/answers.ts';
import type { EvmNode } from '../node/node.ts';
import { backoffMs } from '../node/rpc.ts';
import { Prefetch } from './prefetch.ts';

/** Writes a line. One whose details have a `problem` is a warning. */
export type Log = (message: string, details: Readonly<Record<string, unknown>>) => void;

type FollowOptions = {
  readonly node: EvmNode;
  readonly index: Index;
  /** The first block to index. Null: the genesis block of a short chain, else the oldest that is kept for reorgs. */
  readonly startBlock: number | null;
  /**
   * Fetches what must be known before a block is added. It resolves with the balances at the end of the block, which only a
   * new one needs.
   */
  readonly prepare: (block: ParsedBlock, isNew: boolean) => Promise<Balances>;
  /** Is told of new blocks, and of blocks that are removed, within the transaction that changes the index. */
  readonly listener: BlockListener;
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
/** The number of times that a block is asked for which the node does not have although it should: it may be behind a balancer. */
const MISSING_ATTEMPTS = 5;

/** What a follower does: it learns of the head, adds blocks above the index, and older ones below it. */
type Task = 'head' | 'forward' | 'backfill';

const FAILURES: Readonly<Record<Task, string>> = {
  head: 'chain not followed',
  forward: 'chain not followed',
  backfill: 'older blocks not indexed',
};

type Range = NonNullable<ReturnType<Index['range']>>;

const textOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

/**
 * Keeps the index of a chain where the chain is: forward from the newest indexed block in order, and after the first start also
 * backwards to the first block that is wanted. A failure of the node, of the index or of the listener makes a pause, never a
 * gap.
 */
export class Follower {
  readonly #options: FollowOptions;
  readonly #chainId: number;
  readonly #stopping = new AbortController();
  readonly #problems = new Map<Task, string>();
  readonly #newer = new Prefetch((number) => this.#fetch(number));
  readonly #older = new Prefetch((number) => this.#fetch(number));
  #head: BlockRef | null = null;
  /** Counts what may give a task something to do. */
  #revision = 0;
  #onRevision: (() => void)[] = [];
  /** Blocks up to this one are not announced: the chain had them before it was indexed. */
  #silentUntil = -1;
  /** Whether this index replaces that of another chain, whose blocks the listener was told of. */
  #isReplaced = false;
  /** When the index was last at the head, or said how far it is. */
  #progressAt = { forward: Date.now(), backfill: Date.now() };
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#chainId = options.node.chainId;
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
    const range = this.#options.index.range(this.#chainId);
    const [problem] = this.#problems.values();
    const head = this.#head ?? range?.head;
    return {
      chainId: this.#chainId,
      index:
        head === undefined || range === null
          ? null
          : {
              head: Math.max(head.number, range.head.number),
              headTime: Math.max(head.time, range.head.time),
              indexedFrom: range.lowest.number,
              indexedTo: range.head.number,
              behind: Math.max(0, head.number - range.head.number),
            },
      problem: problem === undefined ? null : `node ${this.#options.node.name}: ${problem}`,
    };
  }

  /** Closes the node. Resolves when the index is not changed any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#options.node.close();
    await this.#running;
  }

  #seen(head: BlockRef): void {
    this.#head = head;
    this.#succeed('head');
    this.#wake();
  }

  #wake(): void {
    this.#revision += 1;
    for (const resolve of this.#onRevision.splice(0)) resolve();
  }

  #fail(task: Task, error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const problem = textOf(error);
    const isKnown = [...this.#problems.values()].includes(problem);
    this.#problems.set(task, problem);
    if (!isKnown)
      this.#options.log(FAILURES[task], { chainId: this.#chainId, node: this.#options.node.name, problem });
  }

  #succeed(task: Task): void {
    if (this.#problems.delete(task) && this.#problems.size === 0)
      this.#options.log('chain followed again', { chainId: this.#chainId, node: this.#options.node.name });
  }

  /** Repeats a step with the newest head. After a failure it pauses; where there is nothing to do, it waits until there may be. */
  async #repeat(task: Task, step: (head: BlockRef) => Promise<'go on' | 'wait'>): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      const revision = this.#revision;
      try {
        const next = this.#head === null ? 'wait' : await step(this.#head);
        failures = 0;
        if (this.#head !== null) this.#succeed(task);
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

  /** Fetches a block that the chain has. */
  async #fetch(number: number): Promise<FetchedBlock> {
    for (let attempt = 1; attempt <= MISSING_ATTEMPTS; attempt++) {
      const fetched = await this.#options.node.block(number);
      if (fetched !== null) return fetched;
      await sleep(backoffMs(attempt), undefined, { signal: this.#stopping.signal });
    }
    throw new Error(`expected block ${number}, got none: the node is behind its head, or pruned`);
  }

  async #forward(head: BlockRef): Promise<'go on' | 'wait'> {
    const { index } = this.#options;
    const range = index.range(this.#chainId);
    if (range === null) return this.#begin(head);
    if (head.number > range.head.number) return this.#append(range, head);
    // Where a balancer has several nodes, one that is behind has an older block of the same chain as its head.
    if (index.hashAt(this.#chainId, head.number) !== head.hash) return this.#unwind(range, head);
    this.#progressAt.forward = Date.now();
    return 'wait';
  }

  /** Adds the first block. It is not the head, so that what a reorg replaces soon is indexed already. */
  async #begin(head: BlockRef): Promise<'go on'> {
    const { startBlock, log, node } = this.#options;
    const kept = Math.max(0, head.number - KEPT_BLOCKS);
    const start = startBlock ?? (head.number < SHORT_CHAIN ? 0 : kept);
    if (start > head.number)
      throw new Error(`expected START_BLOCK at most at the head, block ${head.number}, got ${start}`);
    if (!this.#isReplaced) this.#silentUntil = head.number;
    const fetched = await this.#fetch(Math.max(start, kept));
    await this.#add([fetched], start);
    this.#wake();
    log('indexing a chain', { chainId: this.#chainId, node: node.name, from: start, head: head.number });
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
    const { index, listener, prepare } = this.#options;
    const blocks = fetched.map((block) => parseBlock(this.#chainId, block));
    const isNew = ({ number }: { readonly number: number }) => number > this.#silentUntil;
    const prepared = await Promise.all(
      blocks.map(async (block) => ({ block, known: await prepare(block, isNew(block)) })),
    );
    index.transaction(() => {
      for (const { block, known } of prepared)
        index.append(block, (added) => isNew(added) && listener.added(added), known, start);
    });
  }

  /** Removes the blocks that are not in the chain of `tip`: all of them where it has none, as it is another chain. */
  async #unwind(range: Range, tip: BlockRef): Promise<'go on'> {
    const { index, listener, log } = this.#options;
    const common = await this.#commonBlock(range, tip);
    const removed = (chainId: number, from: number) => listener.removed(chainId, from);
    this.#newer.clear();
    // The blocks that replace the removed ones count as new.
    this.#silentUntil = Math.min(this.#silentUntil, common?.number ?? -1);
    if (common !== null) {
      index.unwind(this.#chainId, common.number, removed);
      const blocks = range.head.number - common.number;
      log('chain reorganised', { chainId: this.#chainId, blocks, from: common.number + 1 });
      return 'go on';
    }
    this.#older.clear();
    index.reset(this.#chainId, removed);
    this.#isReplaced = true;
    log('index of a chain removed', {
      chainId: this.#chainId,
      problem: `block ${range.lowest.number} is another one now, as where a local chain was started anew`,
    });
    return 'go on';
  }

  /**
   * The newest indexed block that the chain of `tip` has; null when it has none. The walk goes by hashes: a balancer that asks
   * several nodes can't mix two chains.
   */
  async #commonBlock({ lowest }: Range, tip: BlockRef): Promise<BlockRef | null> {
    const { index, node } = this.#options;
    if (tip.number < lowest.number)
      throw new Error(`expected a head from block ${lowest.number} on, got block ${tip.number}`);
    const now = await node.find(lowest.number);
    if (now !== null && now.hash !== lowest.hash) return null;
    let block = tip;
    while (index.hashAt(this.#chainId, block.number) !== block.hash) {
      if (block.number <= lowest.number) return null;
      const parent = await node.find(block.parentHash);
      // Parents that are no block lower would be walked without end.
      if (parent?.number !== block.number - 1)
        throw new Error(
          `expected block ${block.parentHash}, the parent of block ${block.number}, got ${parent === null ? 'none' : `block ${parent.number}`}`,
        );
      block = parent;
    }
    return block;
  }

  async #backfill(): Promise<'go on' | 'wait'> {
    const { index, prepare, log } = this.#options;
    const range = index.range(this.#chainId);
    if (range === null || range.lowest.number <= range.from) {
      this.#progressAt.backfill = Date.now();
      return 'wait';
    }
    const fetched = await this.#older.take(range.lowest.number - 1, range.from, BATCH_TRANSACTIONS);
    const blocks: ParsedBlock[] = [];
    let above: BlockRef = range.lowest;
    for (const older of fetched) {
      if (older.block.hash !== above.parentHash) break;
      blocks.push(parseBlock(this.#chainId, older));
      above = older.block;
    }
    if (blocks.length === 0)
      throw new Error(`expected block ${above.parentHash} below block ${above.number}`);
    await Promise.all(blocks.map((block) => prepare(block, false)));
    // Another chain may have taken its place meanwhile.
    if (index.range(this.#chainId)?.lowest.hash !== range.lowest.hash) return 'go on';
    index.prepend(blocks);
    const left = above.number - range.from;
    if (left === 0) log('chain indexed', { chainId: this.#chainId, from: range.from });
    else this.#progress('backfill', 'indexing older blocks', { block: above.number, left });
    return 'go on';
  }

  #progress(task: 'forward' | 'backfill', message: string, details: Readonly<Record<string, unknown>>): void {
    if (Date.now() - this.#progressAt[task] < PROGRESS_MS) return;
    this.#progressAt[task] = Date.now();
    this.#options.log(message, { chainId: this.#chainId, ...details });
  }
}
