import type { Clock } from '../../lib/deadlines.ts';
import { messageOf } from '../../lib/errors.ts';
import { createKeyedQueue } from '../../lib/tasks.ts';
import { LogDamagedError, LogUnavailableError } from './errors.ts';

/** How much is kept. Deliveries beyond a limit are dropped, the oldest of their tenant first. */
export type Retention = {
  readonly maxAgeMs: number;
  /** Of each tenant. */
  readonly maxCount: number;
  /** Of all tenants together; Infinity for no limit. */
  readonly maxTotal: number;
};

const HOUR_MS = 3_600_000;

type Settings = {
  readonly retentionHours: number;
  readonly retentionCount: number;
  readonly retentionTotal?: number | null | undefined;
};

export const retentionOf = ({ retentionHours, retentionCount, retentionTotal }: Settings): Retention => ({
  maxAgeMs: retentionHours * HOUR_MS,
  maxCount: retentionCount,
  maxTotal: retentionTotal ?? Number.POSITIVE_INFINITY,
});

/**
 * How many deliveries each tenant may keep so that all together keep at most `total` (max-min fairness): only those above
 * an equal share lose any, so no tenant pushes out another's that has less. At least 1. `counts` has how many tenants have
 * each number of deliveries.
 */
export const fairShare = (counts: ReadonlyMap<number, number>, total: number): number => {
  let left = total;
  let tenants = counts.values().reduce((sum, some) => sum + some, 0);
  for (const [count, some] of [...counts].sort(([one], [other]) => one - other)) {
    const share = Math.floor(left / tenants);
    if (count > share) return Math.max(1, share);
    left -= count * some;
    tenants -= some;
  }
  return Number.POSITIVE_INFINITY;
};

/** Reports why the log's own trimming fails or waits. */
export type RetentionObserver = {
  /** The log's own trimming begins to fail, or fails for another reason. It is tried again every 5 seconds. */
  failed?(error: unknown): void;
  /** The clock is ahead by `ms` of the time that has passed as far as the log knows, or behind it: then `ms` is negative. */
  jumped?(ms: number): void;
  /** The clock is trusted again: it is back in step, or has run evenly for 12 hours of gateways running. */
  settled?(reason: 'in step' | 'confirmed'): void;
  /** The clock of this gateway is ahead of the log's by `ms`, or behind it (negative); null once they agree again. */
  differs?(ms: number | null): void;
};

/** Clocks that differ by less are in step. Gateways that were off for less time continue without a question. */
const MAX_APART_MS = 3_600_000;

/** A clock that has jumped is trusted once it has run evenly for this long, so that an operator can check first. */
const CONFIRMED_MS = 12 * 3_600_000;

/** The hours add up over restarts, unless the gateway was off for longer, or the clock has jumped again in between. */
const MAX_OFF_MS = 24 * 3_600_000;

/** A clock that has jumped and is not trusted yet. */
export type Jump = {
  /** The time that has come for certain. */
  readonly expected: number;
  /** What the clock says. */
  readonly wall: number;
  /** How long it has run evenly while gateways were running. */
  readonly evenMs: number;
};

/** What a log keeps of its time, for the next process. */
export type KeptTime = {
  /** The clock when it was last trusted. */
  readonly now: number;
  /** The clock's jump since then; null if it was trusted to the end. */
  readonly jump: Jump | null;
};

/** The saved time may be this much older than the present. */
const KEPT_EVERY_MS = 600_000;

/** Whether the time has to be saved again. `kept` is null if none was saved. */
export const isTimeDue = (kept: KeptTime | null, { now, jump }: KeptTime): boolean => {
  if (jump !== null) return Math.abs(jump.evenMs - (kept?.jump?.evenMs ?? -KEPT_EVERY_MS)) >= KEPT_EVERY_MS;
  return kept === null || kept.jump !== null || Math.abs(now - kept.now) >= KEPT_EVERY_MS;
};

/**
 * Holds a clock against the time that has passed: since the log knew the time for certain, and by the monotonic clock, which
 * nobody can set. A clock that jumps ahead would make every delivery too old at once. Until the jump is over or confirmed,
 * time passes here by the monotonic clock, so nothing is dropped too early.
 */
export class RetentionClock {
  readonly #monotonic: Clock;
  readonly #observer: RetentionObserver;
  /** What the clock said when it was last trusted, and the monotonic clock at that time. */
  #believed: { readonly wall: number; readonly at: number };
  #jump: { readonly offset: number; readonly since: number } | null = null;
  /** The jump that an earlier process saw, until this one has read the clock. */
  #earlier: Jump | null;

  /** `kept` is what an earlier process has kept. */
  constructor({ now, jump }: KeptTime, monotonic: Clock, observer: RetentionObserver) {
    this.#monotonic = monotonic;
    this.#observer = observer;
    this.#believed = { wall: jump?.expected ?? now, at: monotonic() };
    this.#earlier = jump;
  }

  /** `wall` is what the clock says now. Returns the time that has come for certain: retention by age goes by it. */
  read(wall: number): KeptTime {
    const at = this.#monotonic();
    const expected = this.#believed.wall + (at - this.#believed.at);
    const isInStep = isNear(wall, expected);
    const evenMs = isInStep ? 0 : this.#evenMs(wall, at, wall - expected);
    this.#earlier = null;
    if (!isInStep && evenMs < CONFIRMED_MS)
      return { now: Math.min(wall, expected), jump: { expected, wall, evenMs } };
    if (this.#jump !== null) this.#observer.settled?.(isInStep ? 'in step' : 'confirmed');
    this.#jump = null;
    this.#believed = { wall, at };
    return { now: wall, jump: null };
  }

  /** How long the clock has run evenly since it jumped. */
  #evenMs(wall: number, at: number, aheadMs: number): number {
    if (this.#jump === null || !isNear(wall - at, this.#jump.offset)) {
      const offMs = this.#earlier === null ? Number.NaN : wall - this.#earlier.wall;
      const goesOn = offMs >= -MAX_APART_MS && offMs <= MAX_OFF_MS;
      this.#jump = { offset: wall - at, since: at - (goesOn ? (this.#earlier?.evenMs ?? 0) : 0) };
      this.#observer.jumped?.(aheadMs);
    }
    return at - this.#jump.since;
  }
}

/** Whether two clocks are in step. */
export const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= MAX_APART_MS;

const TRIM_EVERY_MS = 5000;

type TrimSchedule = {
  /**
   * Trims after the previous trims have ended, because one of them may have looked before the deliveries to drop arrived.
   */
  trim(): Promise<void>;
  stop(): void;
};

/**
 * Starts a schedule that trims now, and again 5 seconds after each of its trims has ended. Calls `onError` for the first of
 * several failures in a row for one reason. Damage is not reported here, since the log's observer reports it.
 */
export const startTrimming = (
  trimOnce: () => Promise<void>,
  onError: ((error: unknown) => void) | undefined,
): TrimSchedule => {
  const inOrder = createKeyedQueue();
  const trim = () => inOrder('trim', trimOnce);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let reported: string | null = null;
  const succeeded = () => {
    reported = null;
  };
  const failed = (error: unknown) => {
    // A store that is lost says so in several ways.
    const reason = error instanceof LogUnavailableError ? 'unavailable' : messageOf(error);
    if (!isStopped && reason !== reported && !(error instanceof LogDamagedError)) onError?.(error);
    reported = reason;
  };
  const schedule = () => {
    if (!isStopped) timer = setTimeout(run, TRIM_EVERY_MS).unref();
  };
  const run = () => void trim().then(succeeded, failed).then(schedule);
  run();
  return {
    trim,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
