/** Reads a monotonic clock: milliseconds since a fixed moment, which never go back. */
export type Clock = () => number;

/** The clock of this process. */
export const monotonicClock: Clock = () => performance.now();
