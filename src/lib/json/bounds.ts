type Bounds = {
  /** Of lists and objects within one another; 0 for what is neither. */
  readonly levels: number;
  /** About as many as its JSON has. */
  readonly characters: number;
};

/** Whether a JSON value is within bounds; looks no further than they reach. */
export const isWithin = (value: unknown, { levels, characters }: Bounds): boolean =>
  charactersLeft(value, levels, characters) >= 0;

/** Negative where the value is beyond its bounds. */
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
