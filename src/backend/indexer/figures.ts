import type { DeliveryEnd } from '../dispatch/dispatcher.ts';
import type { DeliveryQueue } from '../dispatch/store.ts';
import type { ExplorerFigures } from '../explorer/figures.ts';
import type { CallReport } from '../node/observe-calls.ts';
import type { ServiceHealth } from '../server.ts';
import type { ChainStatus } from '../source.ts';

/** What an index says of itself to its operator. Counts are those since it was started. */
export type IndexFigures = {
  readonly health: ServiceHealth;
  readonly chains: readonly ChainFigures[];
  /** Those of explorers that were asked. */
  readonly explorers: readonly ExplorerFigures[];
  readonly deliveries: ReturnType<DeliveryQueue['pending']> & {
    readonly ended: Readonly<Record<DeliveryEnd, number>>;
  };
  /** The bytes of the file of the index, and of its write-ahead log. */
  readonly bytes: { readonly database: number; readonly wal: number };
};

export type ChainFigures = ChainStatus &
  NodeFigures & {
    readonly added: { readonly blocks: number; readonly transactions: number };
  };

type NodeFigures = {
  /** When the node last said which block is the newest, in milliseconds since 1970; null before it has. */
  readonly headSeenAt: number | null;
  /** Of each method that was called. */
  readonly calls: readonly CallFigures[];
};

type CallFigures = {
  readonly method: string;
  /** Attempts by what came of them. */
  readonly outcomes: Readonly<Record<CallReport['outcome'], number>>;
  /** The time that they took. */
  readonly seconds: Distribution;
};

/** How many values are up to each bound and above the one before it, and above all; and the sum of all values. */
type Distribution = {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
};

/** Seconds: from a node on this machine, which takes a millisecond, up to one that does not answer in time. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 30];

/** Counts what is asked of a node. Only the index chooses the methods, so they are few. */
export class NodeCounts {
  #headSeenAt: number | null = null;
  readonly #calls = new Map<string, ReturnType<typeof noCalls>>();

  headSeen(): void {
    this.#headSeenAt = Date.now();
  }

  readonly called = ({ method, outcome, ms }: CallReport): void => {
    const known = this.#calls.get(method);
    const { outcomes, seconds } = known ?? noCalls(method);
    if (known === undefined) this.#calls.set(method, { method, outcomes, seconds });
    outcomes[outcome] += 1;
    const bound = BOUNDS.findIndex((most) => ms <= 1000 * most);
    const bucket = bound === -1 ? BOUNDS.length : bound;
    seconds.counts[bucket] = (seconds.counts[bucket] ?? 0) + 1;
    seconds.sum += ms / 1000;
  };

  read(): NodeFigures {
    return { headSeenAt: this.#headSeenAt, calls: [...this.#calls.values()] };
  }
}

const noCalls = (method: string) => ({
  method,
  outcomes: { ok: 0, refused: 0, unavailable: 0 },
  seconds: { bounds: BOUNDS, counts: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 },
});
