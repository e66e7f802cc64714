const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const SPACE = 0x20;

const WHITE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ESCAPED = new Set(Buffer.from('"\\/bfnrtu'));
const UNICODE = 0x75;
/** The most characters of a number or a word that are read at once. */
const MAX_PIECE = 4096;
const SCALAR = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** The tokens that may come next. `first…` follows an opening bracket, so the closing one may come as well. */
type Expected = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'commaOrEnd' | 'nothing';

/**
 * Validates that bytes are the JSON of an object or a list, chunk by chunk and without building a value. It accepts what
 * JSON.parse accepts. It does not check that the bytes are UTF-8.
 */
export class JsonValidator {
  #isValid = true;
  #expected: Expected = 'value';
  #inString = false;
  #escaped = false;
  /** How many hex digits of a \u escape are missing. */
  #hexDigits = 0;
  /** The characters so far of a number or a word. */
  #scalar = '';
  readonly #isObject: Uint8Array;
  #level = 0;

  /** Deeper nesting than `maxDepth` levels is invalid. */
  constructor(maxDepth: number) {
    this.#isObject = new Uint8Array(maxDepth);
  }

  /** Whether the chunks so far are a complete and valid text. */
  get isComplete(): boolean {
    return this.#isValid && this.#expected === 'nothing';
  }

  /** Adds the next chunk of the text. */
  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#isValid; )
      at = this.#inString ? this.#afterString(chunk, at) : this.#afterToken(chunk, at);
  }

  #afterString(chunk: Uint8Array, from: number): number {
    let at = from;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#escaped || this.#hexDigits > 0) this.#onEscaped(byte);
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte < SPACE) this.#isValid = false;
      else if (byte === QUOTE) {
        this.#inString = false;
        return at + 1;
      }
    }
    return at;
  }

  #onEscaped(byte: number): void {
    if (this.#escaped) {
      if (!ESCAPED.has(byte)) this.#isValid = false;
      this.#hexDigits = byte === UNICODE ? 4 : 0;
      this.#escaped = false;
      return;
    }
    if (!isHex(byte)) this.#isValid = false;
    this.#hexDigits -= 1;
  }

  #afterToken(chunk: Uint8Array, from: number): number {
    const byte = chunk[from] ?? 0;
    const isScalar = isScalarByte(byte);
    if (this.#scalar !== '' && !isScalar) this.#endScalar();
    if (WHITE.has(byte)) return from + 1;
    if (!isScalar) {
      this.#onToken(byte);
      return from + 1;
    }
    let end = from + 1;
    while (end < chunk.length && isScalarByte(chunk[end] ?? 0)) end += 1;
    this.#scalar += String.fromCharCode(...chunk.subarray(from, Math.min(end, from + MAX_PIECE)));
    return Math.min(end, from + MAX_PIECE);
  }

  #endScalar(): void {
    if (!SCALAR.test(this.#scalar)) this.#isValid = false;
    this.#scalar = '';
    this.#endValue();
  }

  #onToken(byte: number): void {
    const expected = this.#expected;
    if (byte === QUOTE) {
      this.#inString = true;
      if (expected === 'key' || expected === 'firstKey') this.#expected = 'colon';
      else this.#endValue();
    } else if (byte === COLON && expected === 'colon') this.#expected = 'value';
    else if (byte === COMMA && expected === 'commaOrEnd')
      this.#expected = this.#isObject[this.#level - 1] === 1 ? 'key' : 'value';
    else if (byte === LIST || byte === OBJECT) this.#open(byte === OBJECT);
    else if (byte === LIST_END || byte === OBJECT_END) this.#close(byte === OBJECT_END);
    else this.#isValid = false;
  }

  #open(isObject: boolean): void {
    const { length } = this.#isObject;
    if ((this.#expected !== 'value' && this.#expected !== 'firstValue') || this.#level === length)
      this.#isValid = false;
    this.#isObject[this.#level] = isObject ? 1 : 0;
    this.#level += 1;
    this.#expected = isObject ? 'firstKey' : 'firstValue';
  }

  #close(isObject: boolean): void {
    const first = isObject ? 'firstKey' : 'firstValue';
    const isOpen = this.#level > 0 && this.#isObject[this.#level - 1] === (isObject ? 1 : 0);
    if (!isOpen || (this.#expected !== first && this.#expected !== 'commaOrEnd')) this.#isValid = false;
    this.#level -= 1;
    this.#expected = this.#level === 0 ? 'nothing' : 'commaOrEnd';
  }

  /**
   * Ends a value that is neither an object nor a list. It must be inside one, because the text itself is an object or a
   * list.
   */
  #endValue(): void {
    if (this.#level === 0 || (this.#expected !== 'value' && this.#expected !== 'firstValue'))
      this.#isValid = false;
    this.#expected = 'commaOrEnd';
  }
}

/** Letters, digits and the signs of numbers. */
const isScalarByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2e ||
  byte === 0x2b ||
  byte === 0x45;

const isHex = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
