/** How far texts are from each other that may be misspelled. */

/**
 * The number of edits between two texts: insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
 * If there are more than `most`, it is any number above that.
 */
export const editsBetween = (one: string, other: string, most = Number.POSITIVE_INFINITY): number => {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  let leastOfLast = 0;
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
      current[column] = edits;
      least = Math.min(least, edits);
    }
    // A swap reaches back by two rows.
    if (least > most && leastOfLast > most) return most + 1;
    beforeLast = last;
    last = current;
    leastOfLast = least;
  }
  return last[other.length] ?? 0;
};

/** Returns the candidate closest to `text`, at most `allowed` edits away; null without one. */
export const closestMatch = (text: string, candidates: readonly string[], allowed: number): string | null => {
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editsBetween(text, candidate, allowed) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((one, other) => one.edits - other.edits);
  return best?.candidate ?? null;
};
