import { setTimeout as pause } from 'node:timers/promises';

/** How often each end has come. */
export type Tally = Record<string, number>;

export const count = (tally: Tally, end: string): void => {
  tally[end] = (tally[end] ?? 0) + 1;
};

/** An end that says why: the code of an error, or the error. */
const endOf = (error: unknown): string => {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : String(error);
};

type Options = {
  /** How many run at a time. Default: 1. */
  readonly atOnce?: number;
  /** From the end of a turn to the beginning of the next one. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
};

/** What all of a soak is made of: does something again and again until the signal aborts, and counts how its turns end. */
export const repeat = (
  turn: (number: number) => Promise<string>,
  { atOnce = 1, pauseMs, signal }: Options,
): { readonly tally: Tally; readonly ended: Promise<unknown> } => {
  const tally: Tally = {};
  let number = 0;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      number += 1;
      const end = await turn(number).catch(endOf);
      // What is cut off by the end of the soak says nothing.
      if (signal.aborted) return;
      count(tally, end);
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  };
  return { tally, ended: Promise.all(Array.from({ length: atOnce }, run)) };
};
