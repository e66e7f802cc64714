import type { Memory } from './cache-budget.ts';

/** What a request was made for, and whether its answer still holds. */
export type Held = {
  readonly follows: string | null;
  readonly limit: number;
  readonly details: boolean;
  /** By a clock that only goes forward, in milliseconds. */
  readonly startedAt: number;
  /** Until when, by the same clock, who wanted details may come back for them: what takes its place has them too. */
  detailsUntil: number;
  /** Whether there was news since it was asked for. */
  outdated: boolean;
  /** Until when, by the same clock, the service wants to be asked for no newer one. */
  notBefore: number;
};

type Entry<Value> = {
  readonly held: Held;
  readonly value: Value;
  /** Of the JSON that it was read from. */
  readonly bytes: number;
  readonly onGone: () => void;
};

/** Where answers are kept, the newest of each key. */
type Shelf<Value> = {
  get(key: string): Entry<Value> | undefined;
  put(key: string, entry: Entry<Value>): void;
};

/** Parsed items weigh about three times what their JSON does. */
const HEAP_PER_BODY_BYTE = 3;
/** What an entry weighs beside its items: an empty page is not free. */
const HEAP_PER_ENTRY = 2048;

export const createShelf = <Value>(memory: Memory): Shelf<Value> => {
  const entries = new Map<string, Entry<Value>>();
  return {
    get(key) {
      memory.touch(key);
      return entries.get(key);
    },
    put(key, entry) {
      const before = entries.get(key);
      // An answer that was overtaken on its way must not take the place of the newer one.
      if (before && before.held.startedAt > entry.held.startedAt) return entry.onGone();
      entries.set(key, entry);
      memory.keep(key, HEAP_PER_ENTRY + 2 * key.length + entry.bytes * HEAP_PER_BODY_BYTE, () => {
        if (entries.get(key) === entry) entries.delete(key);
        entry.onGone();
      });
    },
  };
};
