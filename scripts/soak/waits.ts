import { Times, type TimesSummary } from '../harness/figures.ts';
import { sharedClockMs, type Turn } from './loop.ts';
import { count, type Tally } from './repeat.ts';

export type Wait = {
  readonly ms: number;
  /** When it was over, by `sharedClockMs`. */
  readonly endMs: number;
};

export type WaitSummary = TimesSummary & {
  /** Those that took longer than an honest request may. */
  readonly tooLong: readonly Wait[];
  /** How many requests failed, by their answers' codes. */
  readonly refused: Readonly<Tally>;
};

/** What an honest request may wait for at most. */
export const MOST_WAIT_MS = 2000;

/** What honest clients have waited for, by kind of request. */
export class Waits {
  readonly #kinds = new Map<string, { times: Times; tooLong: Wait[]; refused: Tally }>();

  #of(kind: string) {
    const known = this.#kinds.get(kind) ?? { times: new Times(), tooLong: [], refused: {} };
    this.#kinds.set(kind, known);
    return known;
  }

  add(kind: string, ms: number, endMs: number): void {
    const { times, tooLong } = this.#of(kind);
    times.add(ms);
    if (ms > MOST_WAIT_MS) tooLong.push({ ms, endMs });
  }

  refuse(kind: string, outcome: string): void {
    count(this.#of(kind).refused, outcome);
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
    const kinds = [...this.#kinds].map(([kind, { times, ...rest }]) => [
      kind,
      { ...times.summary(), ...rest },
    ]);
    return Object.fromEntries(kinds);
  }
}

/** How much of what a turn took was of this kind while the wait lasted. */
export const during = ({ ms, endMs }: Wait, turns: readonly Turn[], kind: 'ranMs' | 'noCoreMs'): number =>
  turns.reduce((sum, turn) => {
    const overlap = Math.min(endMs, turn.endMs) - Math.max(endMs - ms, turn.endMs - turn.tookMs);
    return overlap > 0 ? sum + turn[kind] * Math.min(1, overlap / turn.tookMs) : sum;
  }, 0);
