import type { CacheBudget } from './cache-budget.ts';

/** What a request was made for, and whether its answer still holds. */
export type EntryMeta = {
  readonly follows: string | null;
  readonly limit: number;
  readonly details: boolean;
  /** By a clock that only goes forward, in milliseconds. */
  readonly startedAt: number;
  /** Until when, by the same clock, who wanted details may come back for them: what takes its place has them too. */
  keepDetailsUntil: number;
  /** Whether there was news since it was asked for. */
  invalidated: boolean;
  /** Until when, by the same clock, the service wants to be asked for no newer one. */
  retryNotBefore: number;
};

type Entry<Value> = {
  readonly meta: EntryMeta;
  readonly value: Value;
  /** Of the JSON that it was read from. */
  readonly bytes: number;
  readonly onEvict: () => void;
};

/** Where answers are kept, the newest of each key. */
type EntryStore<Value> = {
  get(key: string): Entry<Value> | undefined;
  put(key: string, entry: Entry<Value>): void;
};

/** Parsed items weigh about three times what their JSON does. */
const HEAP_PER_BODY_BYTE = 3;
/** What an entry weighs beside its items: an empty page is not free. */
const HEAP_PER_ENTRY = 2048;

export const createEntryStore = <Value>(budget: CacheBudget): EntryStore<Value> => {
  const entries = new Map<string, Entry<Value>>();
  return {
    get(key) {
      budget.touch(key);
      return entries.get(key);
    },
    put(key, entry) {
      const before = entries.get(key);
      // An answer that was overtaken on its way must not take the place of the newer one.
      if (before && before.meta.startedAt > entry.meta.startedAt) return entry.onEvict();
      entries.set(key, entry);
      budget.add(key, HEAP_PER_ENTRY + 2 * key.length + entry.bytes * HEAP_PER_BODY_BYTE, () => {
        if (entries.get(key) === entry) entries.delete(key);
        entry.onEvict();
      });
    },
  };
};
