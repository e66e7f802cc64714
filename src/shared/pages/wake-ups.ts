import { raceWithTimeout } from '../../lib/abort.ts';

/** A wait for a page that another gateway is fetching. It ends with `cancel`, whether it was woken or not. */
export type PendingWait = {
  /** Resolves when the page is there, after `ms`, or when the signal aborts. */
  ended(ms: number, signal: AbortSignal): Promise<void>;
  cancel(): void;
};

/** Wakes what waits for pages, by their names. */
export class WakeUps {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Listens from now on, so that no message is missed between a look and a wait. */
  listen(page: string): PendingWait {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(page) ?? new Set();
    this.#waiting.set(page, waiting.add(resolve));
    return {
      async ended(ms, signal) {
        await raceWithTimeout(promise, ms, signal);
      },
      cancel: () => {
        waiting.delete(resolve);
        if (waiting.size === 0 && this.#waiting.get(page) === waiting) this.#waiting.delete(page);
      },
    };
  }

  wake(page: string): void {
    for (const resolve of this.#waiting.get(page) ?? []) resolve();
  }
}
