/** Pseudo-random choices that a seed repeats. */
export type Random = {
  /** An integer from 0 to `bound` - 1. */
  below(bound: number): number;
  /** True once in `times`. */
  once(times: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
};

/** Mulberry32. */
export const createRandom = (seed: number): Random => {
  let state = seed | 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
  return {
    below,
    once: (times) => below(times) === 0,
    pick: (values) => {
      const value = values[below(values.length)];
      if (value === undefined && values.length === 0) throw new RangeError('Expected values to pick from.');
      return value as (typeof values)[number];
    },
  };
};
