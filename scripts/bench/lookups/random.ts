/** Numbers that look random and are the same in each run, by mulberry32. */
export const createRandom = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    /** An integer from 0 up to, and without, `below`. */
    integer: (below: number): number => next() % below,
    /** 0x and this many hex digits. */
    hex(digits: number): string {
      let text = '';
      while (text.length < digits) text += next().toString(16).padStart(8, '0');
      return `0x${text.slice(0, digits)}`;
    },
    /** One of a list that is not empty. */
    one: <Value>(values: readonly Value[]): Value => values[next() % values.length] as Value,
  };
};

export type Random = ReturnType<typeof createRandom>;

/** The chains of all items, each with its own currency. */
export const CHAINS = [
  ['ethereum', 1, 'ETH'],
  ['base', 8453, 'ETH'],
  ['arbitrum', 42_161, 'ETH'],
  ['optimism', 10, 'ETH'],
] as const;

const NEWEST_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** The time of the item at this place of a list that is ordered by time. */
export const timeAt = (place: number): string => new Date(NEWEST_MS - place * 12_000).toISOString();
