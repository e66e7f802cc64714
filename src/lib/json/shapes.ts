/** Real texts have a few hundred. */
export const MAX_SHAPES = 50_000;

/** JSON whose objects are of too many shapes. */
export class TooManyShapesError extends RangeError {
  constructor() {
    super(`more than ${MAX_SHAPES} shapes of objects`);
    this.name = 'TooManyShapesError';
  }
}

/**
 * Counts the shapes of the objects of a JSON text as it is scanned: the beginnings of their lists of names, in order. The
 * engine keeps a description of each, which takes more time and memory than the values do. Throws TooManyShapesError.
 */
export class JsonShapes {
  readonly #names = new Map<string, number>();
  /** By the shape before and the name that follows it. */
  readonly #shapes = new Map<number, number>();
  /** Of each object or list that is open, the outermost first. */
  readonly #open: number[] = [];

  open(): void {
    this.#open.push(0);
  }

  close(): void {
    this.#open.pop();
  }

  /** The innermost object has a member of this name next. */
  name(name: string): void {
    const { length } = this.#open;
    const number = numberOf(this.#names, name);
    this.#open[length - 1] = numberOf(this.#shapes, (this.#open[length - 1] ?? 0) * MAX_SHAPES + number);
  }
}

/** Each key has a number of its own, from 1 up. */
const numberOf = <Key>(numbers: Map<Key, number>, key: Key): number => {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  if (numbers.size >= MAX_SHAPES) throw new TooManyShapesError();
  numbers.set(key, numbers.size + 1);
  return numbers.size;
};
