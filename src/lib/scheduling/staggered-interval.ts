/** The callbacks of one slice run in one turn of the event loop. */
const SLICE_MS = 100;

/**
 * Calls each of many callbacks once in an interval, spread evenly over the interval (a timing wheel). Intervals of their
 * own drift together: after the event loop was blocked, all callbacks that are due run in one turn, also from then on.
 */
export type StaggeredInterval = {
  /** Calls `callback` in each interval, until the returned function is called. */
  add(callback: () => void): () => void;
  stop(): void;
};

/** Its timer does not keep the process alive. */
export const createStaggeredInterval = (everyMs: number): StaggeredInterval => {
  const slices = Array.from({ length: Math.ceil(everyMs / SLICE_MS) }, () => new Set<() => void>());
  let added = 0;
  let current = 0;
  const timer = setInterval(() => {
    for (const callback of slices[current] ?? []) callback();
    current = (current + 1) % slices.length;
  }, everyMs / slices.length).unref();
  return {
    add(callback) {
      const slice = slices[added % slices.length];
      added += 1;
      slice?.add(callback);
      return () => slice?.delete(callback);
    },
    stop: () => clearInterval(timer),
  };
};
