/** The sequences above `low` and below `high`, of which at most `limit` are wanted, from the end that `take` names. */
export type SequenceRange = {
  readonly low: number;
  readonly high: number;
  readonly limit: number;
  readonly take: 'oldest' | 'newest';
};

export const isEmpty = ({ low, high }: SequenceRange): boolean => high - low < 2;
