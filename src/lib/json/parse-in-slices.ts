import { createTimeSlices } from '../time-slices.ts';

/** The length of a piece. A shorter text is parsed at once. */
const PIECE_CHARACTERS = 16_384;

/** Shared by all texts that are being parsed. */
const slices = createTimeSlices();

/**
 * Parses a JSON text by `parse`. A long text is parsed in time slices, which all long texts share: however many there
 * are, other work runs in between. Rejects with SyntaxError where the text is not JSON, and with TooManyShapesError.
 */
export const parseInSlices = async (text: string, parse: ParseJson = JSON.parse): Promise<unknown> => {
  const steps = parseSteps(text, parse);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (slices.isOver()) await slices.next(steps);
  }
};

/** Parses a JSON text by `parse`, and yields between two pieces. Returns the value. Throws as `parseInSlices` rejects. */
export function* parseSteps(
  text: string,
  parse: ParseJson,
  pieceCharacters = PIECE_CHARACTERS,
): Generator<undefined, unknown, undefined> {
  if (text.length <= pieceCharacters) return parse(text);
  const parser = new IncrementalParser(text, parse, pieceCharacters);
  while (parser.advance()) yield;
  return parser.result();
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
/** The bit in which braces and brackets differ. */
const BRACE = OBJECT ^ LIST;

const BLANK = /^[ \t\n\r]*$/;
const LEADING_COMMA = /^[ \t\n\r]*,/;

/** Parses JSON as JSON.parse does. Throws SyntaxError for a text that is not JSON. */
export type ParseJson = (text: string) => unknown;

type Container = { readonly value: unknown[] | Record<string, unknown>; isEmpty: boolean };

/**
 * Parses a JSON text in short pieces, one `advance` after the other: the caller can let other work run in between. The
 * result is the same as `parse` of the whole text. Each piece is short, however many values, names and digits there are;
 * only a long string or number is a piece of its own.
 *
 * The parser finds the members of the outer lists and objects, and parses them by `parse`, many in one call.
 */
class IncrementalParser {
  readonly #text: string;
  readonly #parse: ParseJson;
  readonly #pieceCharacters: number;
  /** The open lists and objects that are longer than a piece, outermost first. The first is a list around the text. */
  readonly #open: Container[] = [{ value: [], isEmpty: true }];
  #at = 0;
  #inString = false;
  /** The quotes around the last string: a colon after it makes it a name. */
  #quote = 0;
  #endOfString = 0;
  readonly #shapes = new JsonShapes();
  /** The text before this index is parsed, and its values are in the containers. */
  #from = 0;
  /** The indexes of the brackets since `#from` that are still open. */
  #brackets: number[] = [];
  /** Where the current member begins: that of the innermost container, then that of each open bracket. */
  #members = [0];
  /** Whether a container was closed last, with no comma or bracket since. */
  #hasClosed = false;

  constructor(text: string, parse: ParseJson, pieceCharacters: number) {
    this.#text = text;
    this.#parse = parse;
    this.#pieceCharacters = pieceCharacters;
  }

  /** Scans about one more piece. Returns whether there is more text. Throws SyntaxError and TooManyShapesError. */
  advance(): boolean {
    const text = this.#text;
    const stop = Math.min(text.length, this.#at + this.#pieceCharacters);
    let at = this.#at;
    let inString = this.#inString;
    for (; at < stop; at += 1) {
      const code = text.charCodeAt(at);
      if (inString) {
        if (code === BACKSLASH) at += 1;
        else if (code === QUOTE) {
          inString = false;
          this.#endOfString = at;
        }
      } else if (code === QUOTE) {
        this.#quote = at;
        const end = text.indexOf('"', at + 1);
        inString = end === -1 || text.charCodeAt(end - 1) === BACKSLASH;
        if (inString) continue;
        at = end;
        this.#endOfString = end;
      } else if (code === COLON) this.#shapes.name(text.slice(this.#quote + 1, this.#endOfString));
      else if (code === COMMA || (code | BRACE) === OBJECT || (code | BRACE) === OBJECT_END)
        this.#onToken(code, at);
    }
    this.#at = at;
    this.#inString = inString;
    return at < text.length;
  }

  /** Returns the value of the whole text. Throws SyntaxError where the text is not JSON. */
  result(): unknown {
    const [whole] = this.#open;
    if (this.#inString || this.#brackets.length > 0 || this.#open.length > 1 || !Array.isArray(whole?.value))
      throw new SyntaxError('unexpected end of JSON');
    this.#parseMembers(this.#text.slice(this.#from), true);
    if (whole.value.length !== 1) throw unexpected();
    return whole.value[0];
  }

  #onToken(code: number, at: number): void {
    if (at - this.#from > this.#pieceCharacters) this.#flush();
    if (code === COMMA) this.#members[this.#brackets.length] = at + 1;
    else if (code === LIST || code === OBJECT) {
      this.#brackets.push(at);
      this.#members.push(at + 1);
      this.#shapes.open();
    } else {
      this.#shapes.close();
      if (this.#brackets.pop() === undefined) this.#closeContainer(code, at);
      else this.#members.pop();
    }
  }

  /** Parses all complete members into their containers, and makes a container of each open bracket. */
  #flush(): void {
    const text = this.#text;
    let from = this.#from;
    for (const [level, member] of this.#members.entries()) {
      if (member > from) this.#parseMembers(text.slice(from, member - 1), false);
      from = member;
      const bracket = this.#brackets[level];
      if (bracket === undefined) break;
      this.#openContainer(text.slice(member, bracket), text.charCodeAt(bracket) === LIST ? [] : {});
      from = bracket + 1;
    }
    this.#continueAt(from);
  }

  #closeContainer(code: number, at: number): void {
    const closed = this.#open.at(-1);
    if (this.#open.length === 1 || Array.isArray(closed?.value) !== (code === LIST_END)) throw unexpected();
    this.#parseMembers(this.#text.slice(this.#from, at), true);
    this.#open.pop();
    this.#continueAt(at + 1);
    this.#hasClosed = true;
  }

  #continueAt(from: number): void {
    this.#from = from;
    this.#brackets = [];
    this.#members = [from];
  }

  /** Opens a container as a member of the innermost one. `before` is the text of its name and colon; blank in a list. */
  #openContainer(before: string, value: Container['value']): void {
    const outer = this.#innermost();
    if (this.#hasClosed) throw unexpected();
    if (!Array.isArray(outer.value)) {
      const [name, ...others] = Object.keys(JSON.parse(`{${before}[]}`));
      if (name === undefined || others.length > 0) throw unexpected();
      setMember(outer.value, name, value);
    } else if (BLANK.test(before)) outer.value.push(value);
    else throw unexpected();
    outer.isEmpty = false;
    this.#open.push({ value, isEmpty: true });
  }

  /**
   * Parses complete members into the innermost container. `isLast`: the container ends after them; otherwise a comma
   * follows.
   */
  #parseMembers(source: string, isLast: boolean): void {
    const inner = this.#innermost();
    const comma = this.#hasClosed ? (LEADING_COMMA.exec(source)?.[0] ?? null) : '';
    if (comma === null || (isLast && inner.isEmpty)) {
      this.#hasClosed = false;
      if (BLANK.test(source)) return;
      if (comma === null) throw unexpected();
    }
    this.#hasClosed = false;
    const members = source.slice(comma.length);
    if (BLANK.test(members)) throw unexpected();
    // A long string contains no numbers: JSON.parse is faster than `parse`.
    const parse = members.length > this.#pieceCharacters && members.endsWith('"') ? JSON.parse : this.#parse;
    inner.isEmpty = false;
    if (Array.isArray(inner.value))
      for (const each of parse(`[${members}]`) as unknown[]) inner.value.push(each);
    else
      for (const [name, each] of Object.entries(parse(`{${members}}`) as object))
        setMember(inner.value, name, each);
  }

  #innermost(): Container {
    const inner = this.#open.at(-1);
    if (!inner) throw unexpected();
    return inner;
  }
}

/** Sets an own property, as JSON.parse does, even for the name `__proto__`. */
const setMember = (object: Record<string, unknown>, name: string, value: unknown): void => {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
};

const unexpected = (): SyntaxError => new SyntaxError('unexpected token in JSON');

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
class JsonShapes {
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
