const MINUTES = 30;
const MINUTE_MS = 60_000;

/** The minutes of the last half hour without an event, the present one last. */
export const NO_EVENTS: readonly number[] = Array<number>(MINUTES).fill(0);

/** Adds events to the present minute, which began `minutes` after that of the last ones. */
export const counted = (perMinute: readonly number[], minutes: number, arrived: number): number[] => {
  const shifted = [...perMinute, ...Array<number>(Math.min(minutes, MINUTES)).fill(0)].slice(-MINUTES);
  return shifted.with(-1, (shifted.at(-1) ?? 0) + arrived);
};

/** The number of the minute since the epoch. */
export const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);
