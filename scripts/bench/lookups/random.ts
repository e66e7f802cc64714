/** Numbers that look random and are the same in each run: mulberry32. */
export type Random = {
  /** An integer from 0 up to, and without, `below`. */
  integer(below: number): number;
  /** 0x and so many hex digits. */
  hex(digits: number): string;
  /** One of a list that is not empty. */
  one<Value>(values: readonly Value[]): Value;
};

export const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const integer = (below: number) => next() % below;
  return {
    integer,
    hex(digits) {
      let text = '';
      while (text.length < digits) text += next().toString(16).padStart(8, '0');
      return `0x${text.slice(0, digits)}`;
    },
    one: (values) => values[integer(values.length)] as (typeof values)[number],
  };
};
