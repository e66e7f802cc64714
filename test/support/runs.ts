/** Whether all runs and all cases are wanted: of `npm run test:promises`. */
export const isFull = process.env.FC_RUNS === 'full';

/**
 * How often a test of random cases or of crashes repeats: a tenth of `all`, but at least `least` times, which is what the test
 * needs to see each kind of case. With FC_RUNS=full it repeats `all` times (`npm run test:promises`), with FC_RUNS=5000 as
 * often as that says.
 */
export const runs = (all: number, least = 3): number => {
  if (isFull) return all;
  return Number(process.env.FC_RUNS ?? Math.min(all, Math.max(least, Math.ceil(all / 10))));
};
