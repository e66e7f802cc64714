/** Returns the candidate closest to `text`, at most two edits away (one for a text of up to 5 characters); else null. */
export const closestMatch = (text: string, candidates: readonly string[]): string | null => {
  const allowed = text.length > 5 ? 2 : 1;
  const [best] = candidates
    .filter((candidate) => Math.abs(candidate.length - text.length) <= allowed)
    .map((candidate) => ({ candidate, edits: editsBetween(text, candidate) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((one, other) => one.edits - other.edits);
  return best?.candidate ?? null;
};

/** The edits between two texts: insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
const editsBetween = (one: string, other: string): number => {
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
