import { Times, type TimesSummary } from '../harness/figures.ts';

/** What a store without HTTP has taken: deliveries a second, and how long each caller waited. */
export type Stored = TimesSummary & { readonly rate: number };

let next = 0;

/**
 * Stores deliveries for this long, with this many callers at a time. Each calls `append` with the number of a new delivery,
 * and again once that is stored.
 */
export const measureCallers = async (
  callers: number,
  ms: number,
  append: (number: number) => Promise<unknown>,
): Promise<Stored> => {
  const times = new Times();
  const started = performance.now();
  const call = async (): Promise<void> => {
    for (let now = performance.now(); now < started + ms; ) {
      await append(next++);
      const end = performance.now();
      times.add(end - now);
      now = end;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const summary = times.summary();
  return { ...summary, rate: (summary.count / (performance.now() - started)) * 1000 };
};
