import type { GraphQLError } from 'graphql';

/**
 * Returns errors in the order in which their fields come in the data. The executor has them in the order in which fields
 * fail, which the timing of upstream decides. Errors of one place stay in the order given.
 */
export const inOrderOfData = (errors: readonly GraphQLError[], data: unknown): readonly GraphQLError[] => {
  if (errors.length < 2) return errors;
  const positions = new Positions();
  const placed = errors.map((error) => ({ error, place: positions.placeOf(error.path ?? [], data) }));
  return placed.sort((one, other) => compare(one.place, other.place)).map(({ error }) => error);
};

/** The position of each step of an error's path in the object or list that has it. */
type Place = readonly number[];

/** Remembers the positions of keys in the objects of one answer. */
class Positions {
  readonly #byObject = new Map<object, ReadonlyMap<string, number>>();

  /** Ends where the data ends: the items of a written list have positions, and nothing below them. */
  placeOf(path: readonly (string | number)[], data: unknown): Place {
    const place: number[] = [];
    let value = data;
    for (const key of path) {
      if (typeof key === 'number') place.push(key);
      else if (typeof value === 'object' && value !== null) place.push(this.#keysOf(value).get(key) ?? -1);
      else break;
      value = (value as Readonly<Record<string | number, unknown>> | null)?.[key];
    }
    return place;
  }

  #keysOf(value: object): ReadonlyMap<string, number> {
    let keys = this.#byObject.get(value);
    if (keys === undefined) {
      keys = new Map(Object.keys(value).map((key, index) => [key, index]));
      this.#byObject.set(value, keys);
    }
    return keys;
  }
}

/** Compares two places step by step. A place comes before those below it. */
const compare = (one: Place, other: Place): number => {
  const shared = Math.min(one.length, other.length);
  for (let step = 0; step < shared; step += 1) {
    const difference = (one[step] ?? 0) - (other[step] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
};
