import { setImmediate } from 'node:timers/promises';

/** Milliseconds for which one piece of work may hold the event loop before others get their turn. */
const SLICE_MS = 5;

/** Cuts long work into slices: `isOver` is asked between its steps, and where it is true, `next` is awaited. */
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
