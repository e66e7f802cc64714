/** What gateways ask of the Redis that they share. */
export type SharedTask = 'find' | 'store' | 'renew' | 'invalidate' | 'budget' | 'rate' | 'cooldown';

/** Reports what is shared over Redis to the metrics. */
export type SharedObserver = {
  /**
   * A page was looked for: Redis had it (`hit`) or another gateway was fetching it (`waited`), there was none (`lease`), or
   * Redis does not answer (`unavailable`).
   */
  found(how: 'hit' | 'waited' | 'lease' | 'unavailable'): void;
  /** A script has run, or failed. The time is in milliseconds. */
  ran(task: SharedTask, durationMs: number, failed: boolean): void;
  /** Redis has refused a script, with this reply: its memory is full, or the user may not run it. */
  refused(reply: string): void;
};
