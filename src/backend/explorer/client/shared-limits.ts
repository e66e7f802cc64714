import type { Clock } from './chain.ts';
import { begin, type LimitRecord, newRecord, readRecord } from './limit-record.ts';
import type { Change, Keeper } from './limits.ts';

/** Where several processes keep what they know together, as texts by their names. */
export type RecordStore = {
  /**
   * Puts a text in the place of the expected one; null for none. Resolves with whether it was the expected one, with the text that
   * is there now, and with the store's own time in milliseconds since 1970. Resolves with null while the store does not answer.
   */
  swap(name: string, expected: string | null, next: string): Promise<Swapped | null>;
};

export type Swapped = { readonly isSwapped: boolean; readonly text: string | null; readonly now: number };

/** No record is equal to it. */
const READ = '?';
/** Tries to change a record that others change. */
const MAX_TRIES = 20;
/** What others have changed is shown after so long, also by a process that asks for nothing. */
const SHOWN_AFTER_MS = 2_000;

/**
 * Keeps what is known of a limit in a store, so that it is one for all processes. While the store does not answer, this one goes
 * on by what it knows, with its share: the rate and the credits, divided by how many processes were seen.
 */
export const keepShared = (
  store: RecordStore,
  name: string,
  isHosted: boolean,
  { now }: Clock,
  id: string,
): Keeper => {
  let known = newRecord(isHosted);
  /** The text in the store of which `known` was made. */
  let text: string | null = READ;
  /** How much later it is by the clock of the store. */
  let offsetMs = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  let isAlone = false;
  const storeNow = (): number => now() + offsetMs;

  /** Takes what is in the store for known, beside what this process has found out without it. */
  const take = (found: string | null): void => {
    text = found;
    const read = found === null ? null : readRecord(found);
    // A store that was emptied has forgotten what is known here.
    if (read === null) return;
    if (isAlone && known.pause !== null) begin(read, known.pause);
    known = read;
    isAlone = false;
  };

  const exchange = async (expected: string | null, next: string): Promise<Swapped | null> => {
    const reply = await store.swap(name, expected, next);
    if (reply !== null) {
      offsetMs = reply.now - now();
      seenAt = now();
    }
    return reply;
  };

  const tryChange = async <Result>(change: Change<Result>): Promise<Result> => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (text === READ) {
        const reply = await exchange(READ, READ);
        if (reply === null) break;
        take(reply.text);
      }
      const changed: LimitRecord = structuredClone(known);
      const result = change(changed, storeNow(), 1);
      changed.members[id] = storeNow();
      const next = JSON.stringify(changed);
      const reply = await exchange(text, next);
      if (reply === null) break;
      if (!reply.isSwapped) {
        take(reply.text);
        continue;
      }
      known = changed;
      text = next;
      isAlone = false;
      return result;
    }
    isAlone = true;
    return change(known, storeNow(), Math.max(1, Object.keys(known.members).length));
  };

  /** One change after another: those of one process would only get in each other's way. */
  let last: Promise<unknown> = Promise.resolve();
  const change = <Result>(each: Change<Result>): Promise<Result> => {
    const changed = last.then(() => tryChange(each));
    last = changed;
    return changed;
  };

  return {
    change,
    read() {
      if (now() - seenAt > SHOWN_AFTER_MS) {
        seenAt = now();
        void change(() => {});
      }
      return { known, now: storeNow() };
    },
    localTime: (time) => Math.round(time - offsetMs),
  };
};
