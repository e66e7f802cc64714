import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import type { BlockRef } from '../../node/answers.ts';
import type { Call } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import type { Hex } from '../../types.ts';
import { bytesOf } from '../blocks/encoding.ts';
import type { Index } from '../database/store.ts';
import { amountIn } from './amounts.ts';
import { addressOf, prepareDiffering } from './contract-table.ts';

/** A contract's amount at a block that is not what its events sum up to there. */
export type Difference = {
  readonly chainId: number;
  readonly token: Hex;
  /** Asks the contract for the amount. */
  readonly call: Call;
  readonly sum: bigint;
  readonly block: BlockRef;
  /** Whether its events told of more tokens than the contract says there are. */
  readonly isOverstated: boolean;
};

type Options = {
  /** The file of the index, with the table of contracts. */
  readonly database: DatabaseSync;
  readonly index: Pick<Index, 'hashAt'>;
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'calls'>>;
  /** Whether some of a contract's events are not read yet, so that their sums say nothing of it. */
  readonly isOpen: (chainId: number, token: Hex) => boolean;
  /** Called once what is said of a token's amounts has changed. */
  readonly onChange?: (chainId: number) => void;
  /** Milliseconds before each time that a contract is asked again. Default: 100, 400, and 1,000. */
  readonly pausesMs?: readonly number[];
};

/** Differences that are looked at again at a time. Others are found again at the next look. */
const MAX_LOOKING = 1_000;
/** Tokens of a chain that every account is asked for, and new ones that are looked at together. */
const MAX_ASKED = 100;

/**
 * The tokens whose events do not say what accounts have, such as those that rebase, or take a fee without an event. A token is
 * one of them from the first difference on that stands: a node that is asked for its newest block while it adds another may
 * answer with the state after that one (Anvil does), so the contract must say it several times of the same block.
 */
export class Differing {
  readonly #options: Options & { readonly pausesMs: readonly number[] };
  readonly #statements: ReturnType<typeof prepareDiffering>;
  readonly #looking = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: Options) {
    this.#options = { pausesMs: [100, 400, 1_000], ...options };
    this.#statements = prepareDiffering(options.database);
  }

  has(chainId: number, token: Hex): boolean {
    return Number(this.#statements.find.get(chainId, bytesOf(token))?.differs ?? AGREEING) > AGREEING;
  }

  /** Whether there are such tokens on a chain. */
  hasAny(chainId: number): boolean {
    return this.#statements.some.all(chainId, 1).length > 0;
  }

  /**
   * Those of which an account may have something without an event, and contracts with events that can't be read yet, by their
   * addresses: of the first ones on a chain.
   */
  behind(chainId: number, after: string): readonly Hex[] {
    const from = bytesOf(`0x${after.slice(2)}`);
    const { some, open } = this.#statements;
    const found = [...some.all(chainId, MAX_ASKED), ...open.all(chainId, MAX_ASKED)].map(addressOf);
    return [...new Set(found)].filter((address) => Buffer.compare(bytesOf(address), from) > 0).toSorted();
  }

  /** Known ERC-20s of a chain whose supply has not been compared with their events. */
  new(chainId: number): readonly Hex[] {
    return this.#statements.new.all(chainId, MAX_ASKED).map(addressOf);
  }

  /** Takes note that a token's supply is what its events sum up to. */
  agrees(chainId: number, token: Hex): void {
    this.#statements.set.run(AGREEING, chainId, bytesOf(token));
  }

  /** Takes note of a difference that is not known yet, and looks at it again in the background. */
  note(difference: Difference): void {
    const { chainId, token, isOverstated } = difference;
    if (this.#options.isOpen(chainId, token)) return;
    const known = Number(this.#statements.find.get(chainId, bytesOf(token))?.differs ?? AGREEING);
    if (known >= kindOf(difference)) return;
    const key = `${chainId}/${token}/${isOverstated}`;
    if (this.#looking.has(key) || this.#looking.size >= MAX_LOOKING || this.#stopping.signal.aborted) return;
    const looking = this.#lookAgain(difference)
      .catch(() => {})
      .finally(() => this.#looking.delete(key));
    this.#looking.set(key, looking);
  }

  /** Resolves when all that is noted by now has been looked at again. */
  async settled(): Promise<void> {
    await Promise.all(this.#looking.values());
  }

  /** Resolves when nothing is asked. Close the nodes first, or it waits for their answers. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.settled();
  }

  /** Rejects when the node fails: the next look finds the difference again. */
  async #lookAgain(difference: Difference): Promise<void> {
    const { chainId, token, call, sum, block, isOverstated } = difference;
    const node = this.#options.nodes.get(chainId);
    const { signal } = this.#stopping;
    const said = new Set<bigint | null>();
    for (const pauseMs of this.#options.pausesMs) {
      await wait(pauseMs, undefined, { signal, ref: false });
      const [answer = null] = await Promise.all(node?.calls([call], block.number) ?? []);
      said.add(amountIn(answer));
    }
    const [amount = null] = said;
    const stands = isOverstated ? amount !== null && amount < sum : amount !== null && amount !== sum;
    if (said.size > 1 || !stands || this.#options.index.hashAt(chainId, block.number) !== block.hash) return;
    if (this.#options.isOpen(chainId, token)) return;
    this.#statements.set.run(kindOf(difference), chainId, bytesOf(token));
    this.#options.onChange?.(chainId);
  }
}

/** What the column `differs` has: the greater one stays. */
const AGREEING = 0;
const DIFFERING = 1;
const OVERSTATED = 2;

const kindOf = ({ isOverstated }: Difference): number => (isOverstated ? OVERSTATED : DIFFERING);
