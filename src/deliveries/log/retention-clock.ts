import type { Clock } from '../../lib/clock.ts';

/** Reports what the log does by itself to drop deliveries, and why it does not. */
export type RetentionObserver = {
  /** The log's own trimming begins to fail, or fails for another reason. It is tried again every 5 seconds. */
  failed(error: unknown): void;
  /** The clock is ahead by `ms` of the time that has passed as far as the log knows, or behind it: then `ms` is negative. */
  jumped(ms: number): void;
  /** The clock is believed again: it is back in step, or has gone on evenly for 12 hours. */
  settled(reason: 'in step' | 'confirmed'): void;
  /** The clock of this gateway is ahead of the one that the log goes by, by `ms`, or behind it; null when it is no longer. */
  differs(ms: number | null): void;
};

/** Clocks that differ by less are in step. Gateways that were off for less time continue without a question. */
const MAX_APART_MS = 3_600_000;

/** A clock that has jumped is believed once it has gone on evenly for this long: an operator may look first. */
const CONFIRMED_MS = 12 * 3_600_000;

type Reading = {
  /** The time that has come for certain: retention by age goes by it. */
  readonly now: number;
  /** Whether it is what the clock says. */
  readonly isSure: boolean;
};

/**
 * Holds a clock against the time that has passed: since the log knew the time for certain, and by the monotonic clock, which
 * nobody can set. A clock that jumps ahead would make every delivery too old at once. Until the jump is over or confirmed,
 * time passes here by the monotonic clock, so nothing is dropped too early.
 */
export class RetentionClock {
  readonly #monotonic: Clock;
  readonly #observer: Partial<RetentionObserver>;
  /** What the clock said when it was believed last, and the monotonic clock at that time. */
  #believed: { readonly wall: number; readonly at: number };
  #jump: { readonly offset: number; readonly since: number } | null = null;

  /** `known` is a time that has come for certain: the last one that an earlier process believed. */
  constructor(known: number, monotonic: Clock, observer: Partial<RetentionObserver>) {
    this.#monotonic = monotonic;
    this.#observer = observer;
    this.#believed = { wall: known, at: monotonic() };
  }

  /** `wall` is what the clock says now. */
  read(wall: number): Reading {
    const at = this.#monotonic();
    const expected = this.#believed.wall + (at - this.#believed.at);
    const isInStep = isNear(wall, expected);
    if (!isInStep && !this.#isConfirmed(wall, at, wall - expected))
      return { now: Math.min(wall, expected), isSure: false };
    if (this.#jump !== null) this.#observer.settled?.(isInStep ? 'in step' : 'confirmed');
    this.#jump = null;
    this.#believed = { wall, at };
    return { now: wall, isSure: true };
  }

  #isConfirmed(wall: number, at: number, aheadMs: number): boolean {
    if (this.#jump !== null && isNear(wall - at, this.#jump.offset))
      return at - this.#jump.since >= CONFIRMED_MS;
    this.#jump = { offset: wall - at, since: at };
    this.#observer.jumped?.(aheadMs);
    return false;
  }
}

/** Whether two times are of clocks that are in step. */
export const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= MAX_APART_MS;
