import { setImmediate } from 'node:timers/promises';

/** Milliseconds for which the work may hold the event loop. */
const SLICE_MS = 5;

/**
 * Cuts one piece of work into slices of its own, where TimeSlices has all work of the thread share one slice: so it is
 * for work of which few pieces run at a time. `isOver` is asked between its steps; where it is true, `next` is awaited.
 */
export class TimeSlice {
  #endsAt = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Resolves when others have had their turn. */
  async next(): Promise<void> {
    await setImmediate();
    this.#endsAt = performance.now() + SLICE_MS;
  }
}
