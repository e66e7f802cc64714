type Bounds = {
  /** The maximum nesting of lists and objects; 0 allows neither. */
  readonly levels: number;
  /** The maximum size, about the number of characters of the value's JSON. */
  readonly characters: number;
};

/** Returns whether a JSON value is within bounds. It stops where the value exceeds them. */
export const isWithin = (value: unknown, { levels, characters }: Bounds): boolean =>
  charactersLeft(value, levels, characters) >= 0;

/** Returns how many characters remain after the value; a negative number where it exceeds its bounds. */
const charactersLeft = (value: unknown, levels: number, characters: number): number => {
  if (typeof value === 'string') return characters - value.length;
  if (typeof value !== 'object' || value === null) return characters - 1;
  if (levels === 0) return -1;
  let left = characters - 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = charactersLeft(value[index], levels - 1, left - 1);
    return left;
  }
  for (const key in value) {
    if (left < 0) break;
    left = charactersLeft((value as Record<string, unknown>)[key], levels - 1, left - key.length - 1);
  }
  return left;
};
