/** The most shapes that one JSON text may have. Real texts have a few hundred. */
export const MAX_SHAPES = 50_000;

/** The error of a JSON text whose objects have more than MAX_SHAPES shapes. */
export class TooManyShapesError extends RangeError {
  constructor() {
    super(`more than ${MAX_SHAPES} shapes of objects`);
    this.name = 'TooManyShapesError';
  }
}

/**
 * Counts the shapes of the objects of a JSON text while it is scanned. A shape is a sequence of names that an object begins
 * with. V8 keeps a hidden class for each shape, which takes more time and memory than the values do. Throws
 * TooManyShapesError.
 */
export class JsonShapes {
  readonly #names = new Map<string, number>();
  /** Numbers of shapes, by the shape without its last name and by that name. */
  readonly #shapes = new Map<number, number>();
  /** The shape so far of each open object or list, outermost first. */
  readonly #open: number[] = [];

  /** An object or a list begins. */
  open(): void {
    this.#open.push(0);
  }

  /** The innermost object or list ends. */
  close(): void {
    this.#open.pop();
  }

  /** The innermost object continues with a member of this name. */
  name(name: string): void {
    const { length } = this.#open;
    const number = numberOf(this.#names, name);
    this.#open[length - 1] = numberOf(this.#shapes, (this.#open[length - 1] ?? 0) * MAX_SHAPES + number);
  }
}

/** Returns the number of a key: a new key gets the next one, from 1. */
const numberOf = <Key>(numbers: Map<Key, number>, key: Key): number => {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  if (numbers.size >= MAX_SHAPES) throw new TooManyShapesError();
  numbers.set(key, numbers.size + 1);
  return numbers.size;
};
