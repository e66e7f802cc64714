export type WaitSummary = {
  readonly done: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** How many requests failed, by their answers' codes. */
  readonly refused: Readonly<Record<string, number>>;
};

/** What honest clients have waited for, by kind of request. */
export class Waits {
  readonly #times = new Map<string, number[]>();
  readonly #refused = new Map<string, Map<string, number>>();

  add(kind: string, ms: number): void {
    const times = this.#times.get(kind);
    if (times) times.push(ms);
    else this.#times.set(kind, [ms]);
  }

  refuse(kind: string, outcome: string): void {
    const outcomes = this.#refused.get(kind) ?? new Map<string, number>();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    this.#refused.set(kind, outcomes);
  }

  /** Awaits it, and adds how long that took, also when it fails. */
  async measure<Result>(kind: string, asked: Promise<Result>): Promise<Result> {
    const since = performance.now();
    try {
      return await asked;
    } finally {
      this.add(kind, performance.now() - since);
    }
  }

  summary(): Record<string, WaitSummary> {
    const kinds = [...this.#times].map(([kind, times]) => {
      const sorted = Float64Array.from(times).sort();
      const at = (share: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      const refused = Object.fromEntries(this.#refused.get(kind) ?? []);
      return [kind, { done: times.length, medianMs: at(0.5), p99Ms: at(0.99), longestMs: at(1), refused }];
    });
    return Object.fromEntries(kinds);
  }
}
