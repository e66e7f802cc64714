/** The candidate that `text` was most likely meant for: at most two slips away, one in a short text; null for none. */
export const closestMatch = (text: string, candidates: readonly string[]): string | null => {
  const allowed = text.length > 5 ? 2 : 1;
  const [best] = candidates
    .filter((candidate) => Math.abs(candidate.length - text.length) <= allowed)
    .map((candidate) => ({ candidate, slips: slipsBetween(text, candidate) }))
    .filter(({ slips }) => slips <= allowed)
    .sort((one, other) => one.slips - other.slips);
  return best?.candidate ?? null;
};

/** Characters left out, added, exchanged, or swapped with their neighbour (the optimal string alignment distance). */
const slipsBetween = (one: string, other: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
};
