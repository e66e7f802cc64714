import { sharedClockMs } from './loop.ts';

export type Wait = {
  readonly ms: number;
  /** When it was over, by `sharedClockMs`. */
  readonly endMs: number;
};

export type WaitSummary = {
  readonly done: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Those that took longer than an honest request may. */
  readonly tooLong: readonly Wait[];
  /** How many requests failed, by their answers' codes. */
  readonly refused: Readonly<Record<string, number>>;
};

/** What an honest request may wait for at most. */
export const MOST_WAIT_MS = 2000;

/** What honest clients have waited for, by kind of request. */
export class Waits {
  readonly #times = new Map<string, number[]>();
  readonly #tooLong = new Map<string, Wait[]>();
  readonly #refused = new Map<string, Map<string, number>>();

  add(kind: string, ms: number, endMs: number): void {
    listOf(this.#times, kind).push(ms);
    const tooLong = listOf(this.#tooLong, kind);
    if (ms > MOST_WAIT_MS) tooLong.push({ ms, endMs });
  }

  refuse(kind: string, outcome: string): void {
    const outcomes = this.#refused.get(kind) ?? new Map<string, number>();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    this.#refused.set(kind, outcomes);
  }

  /** Awaits it, and adds how long that took, also when it fails. */
  async measure<Result>(kind: string, asked: Promise<Result>): Promise<Result> {
    const since = sharedClockMs();
    try {
      return await asked;
    } finally {
      const now = sharedClockMs();
      this.add(kind, now - since, now);
    }
  }

  summary(): Record<string, WaitSummary> {
    const kinds = [...this.#times].map(([kind, times]): [string, WaitSummary] => {
      const sorted = Float64Array.from(times).sort();
      const at = (share: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      return [
        kind,
        {
          done: times.length,
          medianMs: at(0.5),
          p99Ms: at(0.99),
          longestMs: at(1),
          tooLong: this.#tooLong.get(kind) ?? [],
          refused: Object.fromEntries(this.#refused.get(kind) ?? []),
        },
      ];
    });
    return Object.fromEntries(kinds);
  }
}

const listOf = <Item>(lists: Map<string, Item[]>, kind: string): Item[] => {
  const list = lists.get(kind) ?? [];
  lists.set(kind, list);
  return list;
};
