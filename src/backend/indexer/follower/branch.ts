import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockRef, FetchedBlock } from '../../node/answers.ts';
import type { EvmNode } from '../../node/node.ts';
import { backoffMs } from '../../node/rpc.ts';
import type { Index } from '../database/store.ts';

type Options = {
  readonly node: EvmNode;
  readonly index: Pick<Index, 'hashAt'>;
  readonly signal: AbortSignal;
};

export type Range = NonNullable<ReturnType<Index['range']>>;

/** How often a node is asked again before much is removed from the index, and the milliseconds before each time. */
const CONFIRMATIONS = 4;
const CONFIRM_MS = 1_000;

/** The number of times that a block is asked for which the node does not have although it should: it may be behind a balancer. */
const MISSING_ATTEMPTS = 5;

/**
 * What the chain of a node is, and where that of the index is another one. Whatever would remove much from the index, or leave blocks out of it,
 * is asked for again: one wrong answer must not do it.
 */
export class Branch {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Fetches a block that the chain has. */
  async fetch(number: number): Promise<FetchedBlock> {
    const { node, signal } = this.#options;
    for (let attempt = 1; attempt <= MISSING_ATTEMPTS; attempt++) {
      const fetched = await node.block(number);
      if (fetched !== null) return fetched;
      await sleep(backoffMs(attempt), undefined, { signal });
    }
    throw new Error(`expected block ${number}, got none: the node is behind its head, or pruned`);
  }

  /**
   * The first block that the node has, from the wanted one on: a chain may begin late, as a fork does, and a node may have pruned
   * the oldest ones. What a node says that it lacks is asked again over some seconds, unless a block without a parent follows.
   */
  async firstFrom(wanted: number, head: BlockRef): Promise<number> {
    const { node } = this.#options;
    if ((await node.find(wanted)) !== null) return wanted;
    let [missing, first] = [wanted, head];
    while (first.number - missing > 1) {
      const middle = Math.floor((missing + first.number) / 2);
      const found = await node.find(middle);
      if (found === null) missing = middle;
      else first = found;
    }
    if (/^0x0*$/.test(first.parentHash)) return first.number;
    const { hash, number } = first;
    await this.confirm(number, (again) => again?.hash === hash);
    await this.confirm(missing, (again) => again === null);
    return number;
  }

  /** Whether the node has taken blocks back, as by `evm_revert`: none but a development node can. */
  async isRolledBack({ head }: Range): Promise<boolean> {
    const { node } = this.#options;
    return (await node.isForDevelopment()) && (await node.findAnew(head.hash)) === null;
  }

  /**
   * Makes sure that the node belongs to another chain than the index: that it has another block in the place of the lowest one,
   * and where that is the genesis block, does not know it.
   */
  async confirmAnother({ lowest }: Range): Promise<void> {
    await this.confirm(lowest.number, (again) => again !== null && again.hash !== lowest.hash);
    if (lowest.number === 0 && (await this.#options.node.findAnew(lowest.hash)) !== null)
      throw new Error(`expected one genesis block, got another one beside ${lowest.hash}`);
  }

  /**
   * Asks for a block again over some seconds, each time over a new connection: one wrong answer, such as that of another chain's
   * node behind a balancer, must not remove what is indexed.
   * @throws when an answer is not as the first one.
   */
  async confirm(number: number, isAsBefore: (block: BlockRef | null) => boolean): Promise<void> {
    const { node, signal } = this.#options;
    for (let asked = 0; asked < CONFIRMATIONS; asked++) {
      await sleep(CONFIRM_MS, undefined, { signal });
      const again = await node.findAnew(number);
      if (!isAsBefore(again))
        throw new Error(`expected one block ${number}, got another one when it was asked for again`);
    }
  }

  /**
   * The newest indexed block that the chain of `tip` has; null when it has none. The walk goes by hashes: a balancer that asks
   * several nodes can't mix two chains.
   */
  async commonBlock({ lowest }: Range, tip: BlockRef): Promise<BlockRef | null> {
    const { index, node } = this.#options;
    if (tip.number < lowest.number)
      throw new Error(`expected a head from block ${lowest.number} on, got block ${tip.number}`);
    const now = await node.find(lowest.number);
    if (now !== null && now.hash !== lowest.hash) return null;
    let block = tip;
    while (index.hashAt(node.chainId, block.number) !== block.hash) {
      if (block.number <= lowest.number) return null;
      const parent = await node.find(block.parentHash);
      // A parent that is not one block lower would make the walk endless.
      if (parent?.number !== block.number - 1)
        throw new Error(
          `expected block ${block.parentHash}, the parent of block ${block.number}, got ${parent === null ? 'none' : `block ${parent.number}`}`,
        );
      block = parent;
    }
    return block;
  }
}
