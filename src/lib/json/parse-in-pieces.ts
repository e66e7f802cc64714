import { JsonShapes } from './shapes.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
/** The bit that tells braces from brackets. */
const BRACE = OBJECT ^ LIST;

/** Of that size are the pieces; a longer string or number is one piece by itself. */
const CHUNK_CHARACTERS = 16_384;

const BLANK = /^[ \t\n\r]*$/;
const LEADING_COMMA = /^[ \t\n\r]*,/;

/** Makes a value of JSON, as JSON.parse does, and throws SyntaxError of what is none. */
export type ParseJson = (text: string) => unknown;

type Container = { readonly value: unknown[] | Record<string, unknown>; isEmpty: boolean };

/**
 * Gives what `parse` gives of the whole text, made of short pieces that `parse` gets one after the other: between two of
 * them the caller can let other work go on. What the values are, their number, their names and their digits, makes no
 * piece long.
 */
export function* parsedInPieces(
  text: string,
  parse: ParseJson,
  pieceCharacters = CHUNK_CHARACTERS,
): Generator<undefined, unknown, undefined> {
  if (text.length <= pieceCharacters) return parse(text);
  const parser = new PiecewiseParser(text, parse, pieceCharacters);
  while (parser.advance()) yield;
  return parser.result();
}

class PiecewiseParser {
  readonly #text: string;
  readonly #parse: ParseJson;
  readonly #pieceCharacters: number;
  /** Lists and objects that are longer than a piece, from the outermost in. The first is a list around the whole. */
  readonly #open: Container[] = [{ value: [], isEmpty: true }];
  #at = 0;
  #inString = false;
  /** Of the last string, which the next colon makes a name. */
  #quote = 0;
  #endOfString = 0;
  readonly #shapes = new JsonShapes();
  /** What comes before is in the containers. */
  #from = 0;
  /** Brackets since `#from` that are not closed yet. */
  #brackets: number[] = [];
  /** Where the current member begins: of the innermost container, then of what each bracket opened. */
  #members = [0];
  /** Whether a container has just been closed, and no comma or bracket has come since. */
  #hasClosed = false;

  constructor(text: string, parse: ParseJson, pieceCharacters: number) {
    this.#text = text;
    this.#parse = parse;
    this.#pieceCharacters = pieceCharacters;
  }

  /** Reads about one more piece; whether there is more. */
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
        this.#take(code, at);
    }
    this.#at = at;
    this.#inString = inString;
    return at < text.length;
  }

  result(): unknown {
    const [whole] = this.#open;
    if (this.#inString || this.#brackets.length > 0 || this.#open.length > 1 || !Array.isArray(whole?.value))
      throw new SyntaxError('the end comes too early');
    this.#add(this.#text.slice(this.#from), true);
    if (whole.value.length !== 1) throw unexpected();
    return whole.value[0];
  }

  #take(code: number, at: number): void {
    if (at - this.#from > this.#pieceCharacters) this.#cut();
    if (code === COMMA) this.#members[this.#brackets.length] = at + 1;
    else if (code === LIST || code === OBJECT) {
      this.#brackets.push(at);
      this.#members.push(at + 1);
      this.#shapes.open();
    } else {
      this.#shapes.close();
      if (this.#brackets.pop() === undefined) this.#close(code, at);
      else this.#members.pop();
    }
  }

  /** Takes all whole members into containers, and has one for each bracket. */
  #cut(): void {
    const text = this.#text;
    let from = this.#from;
    for (const [level, member] of this.#members.entries()) {
      if (member > from) this.#add(text.slice(from, member - 1), false);
      from = member;
      const bracket = this.#brackets[level];
      if (bracket === undefined) break;
      this.#begin(text.slice(member, bracket), text.charCodeAt(bracket) === LIST ? [] : {});
      from = bracket + 1;
    }
    this.#goOn(from);
  }

  #close(code: number, at: number): void {
    const closed = this.#open.at(-1);
    if (this.#open.length === 1 || Array.isArray(closed?.value) !== (code === LIST_END)) throw unexpected();
    this.#add(this.#text.slice(this.#from, at), true);
    this.#open.pop();
    this.#goOn(at + 1);
    this.#hasClosed = true;
  }

  #goOn(from: number): void {
    this.#from = from;
    this.#brackets = [];
    this.#members = [from];
  }

  /** A container that is a member of the innermost one; `before` is its name and colon, if it has any. */
  #begin(before: string, value: Container['value']): void {
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

  /** Adds whole members to the innermost container. `isLast`: its end comes next, else a comma. */
  #add(source: string, isLast: boolean): void {
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
    // A string has no digits.
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

/** As JSON.parse does, also where the name is `__proto__`. */
const setMember = (object: Record<string, unknown>, name: string, value: unknown): void => {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
};

const unexpected = (): SyntaxError => new SyntaxError('not JSON');
