/** What rounds of a comparison say together. */

/** Of each interval, where there are rounds enough. */
const CONFIDENCE = 0.98;
/** A ratio this near to 1 is no difference: what runs first, and where it lies in memory, costs as much. */
const MARGIN = 1.03;

type Interval = {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
  /** How likely it is that the true middle lies between `low` and `high`. */
  readonly confidence: number;
};

/**
 * The middle of some values, and an interval of it, by the signed ranks of Wilcoxon: it holds for few values, and for any
 * distribution that is about symmetric. One value that is far off hardly moves the middle, but widens the interval.
 */
const intervalOf = (values: readonly number[]): Interval => {
  const means = values
    .flatMap((one, at) => values.slice(at).map((other) => (one + other) / 2))
    .toSorted((one, other) => one - other);
  /** How many sets of ranks have this sum. All sets are equally likely where the middle is right. */
  const sets = [1, ...means.map(() => 0)];
  for (let rank = 1; rank <= values.length; rank += 1)
    for (let sum = means.length; sum >= rank; sum -= 1)
      sets[sum] = (sets[sum] ?? 0) + (sets[sum - rank] ?? 0);
  const confidenceWithout = (left: number): number =>
    1 - (2 * sets.slice(0, left + 1).reduce((total, count) => total + count, 0)) / 2 ** values.length;
  let left = 0;
  while (confidenceWithout(left + 1) >= CONFIDENCE) left += 1;
  const at = (place: number) => means[place] ?? Number.NaN;
  return {
    low: at(left),
    middle: (at(Math.floor((means.length - 1) / 2)) + at(Math.floor(means.length / 2))) / 2,
    high: at(means.length - 1 - left),
    confidence: confidenceWithout(left),
  };
};

/** `equal`: no difference was shown, or none above 3 %. `not comparable`: a round has no ratio. */
export type Verdict = Interval & { readonly verdict: 'worse' | 'equal' | 'better' | 'not comparable' };

/** Takes the ratio of each round: what it costs after a change, of what it cost before. */
export const judge = (ratios: readonly number[]): Verdict => {
  const { low, middle, high, confidence } = intervalOf(ratios.map(Math.log));
  const interval = { low: Math.exp(low), middle: Math.exp(middle), high: Math.exp(high), confidence };
  if (ratios.length === 0 || !ratios.every(Number.isFinite))
    return { ...interval, verdict: 'not comparable' };
  if (interval.low > 1 && interval.middle > MARGIN) return { ...interval, verdict: 'worse' };
  if (interval.high < 1 && interval.middle < 1 / MARGIN) return { ...interval, verdict: 'better' };
  return { ...interval, verdict: 'equal' };
};
