import { isUtf8 } from 'node:buffer';
import type { BufferPool } from '../../lib/buffers.ts';
import { plainDecimal } from '../../lib/decimal.ts';
import { parseExactJson } from '../../lib/json/exact-json.ts';
import type { ChainTable } from '../parse/derived.ts';
import type { CompiledList, IndexedList } from './compile-list.ts';
import type { KernelPlan } from './compile-plan.ts';
import { IndexedPage, type PageImage } from './indexed-page.ts';
import {
  CHAINS,
  DECIMAL,
  EXACT_TEXT,
  FLOAT,
  MEMBERS,
  ODD,
  OUTPUT,
  PADDING,
  PAGE,
  PLAN,
  RESULT,
  RESULT_HEAP_END,
  RESULT_MEMBERS,
  RESULT_OUTPUT_END,
  RESULT_REPEATS,
  RESULT_STOP,
  ROW_BYTES,
  ROW_END,
  ROW_RECORD,
  ROW_START,
  ROWS,
  SPAN_BYTES,
  SPAN_LENGTH,
  TEXTS,
  TEXTS_CURSORS,
  TEXTS_END,
} from './layout.ts';
import type { Instantiate, Kernel } from './module.ts';

/** What a run of items became. */
export type Written = {
  /** The JSON of the items, with commas between. It is overwritten by the next call of the kernel. */
  readonly bytes: Uint8Array;
  /** The index of the first item that was not written. */
  readonly next: number;
  /** Whether that item is left to the object writer. Otherwise a further call writes it. */
  readonly isOdd: boolean;
};

/** What a plan writes that no page has. */
export type WriteValues = {
  /** The address that the list belongs to. */
  readonly subject: string;
  readonly chains: ChainTable;
  /** Returns the cursor of the item at an index. */
  readonly cursorOf: (index: number) => string;
};

/** WebAssembly's unit of memory. */
const MEMORY_PAGE = 65_536;

/** The size of a page's heap: a denser page is left to the plain parser. */
const heapBytes = (bodyBytes: number): number => 2 * bodyBytes + MEMORY_PAGE;

/** The most bytes that a body and its heap take. */
export const capacityFor = (bodyBytes: number): number => bodyBytes + heapBytes(bodyBytes) + MEMORY_PAGE;

/** Items of a page as they lie in memory, with those that were marked as odd by then. */
type Loaded = Pick<IndexedPage, 'marks'> & {
  readonly page: IndexedPage;
  readonly from: number;
  readonly to: number;
};

/** An instance of the kernel with its own memory. */
export class KernelInstance {
  /** The bytes that a page may take. */
  readonly capacity: number;
  readonly kernel: Kernel;
  readonly #pool: BufferPool;
  readonly #bytes: Buffer;
  readonly #words: DataView;
  /** The items that lie in memory, and of which page. */
  #loaded: Loaded | null = null;
  readonly #lists = new Set<CompiledList>();
  #plan: KernelPlan | null = null;
  #chains: Buffer | null = null;
  #subject: string | null = null;

  /** `pool` has the buffers of kept pages. */
  constructor(instantiate: Instantiate, capacity: number, pool: BufferPool) {
    this.capacity = capacity;
    this.#pool = pool;
    this.kernel = instantiate((from, end, style, to, room) => {
      const json = exactNumberJson(this.#bytes.toString('latin1', from, end), style);
      return json === null || json.length > room ? 0 : this.#bytes.write(json, to, 'latin1');
    });
    const { memory } = this.kernel;
    memory.grow(Math.ceil(capacity / MEMORY_PAGE));
    this.#bytes = Buffer.from(memory.buffer);
    this.#words = new DataView(memory.buffer);
  }

  /** Returns null for a body that is left to the plain parser, such as one that has the secret. */
  index(
    chunks: readonly Uint8Array[],
    secret: Uint8Array | null,
    list: IndexedList,
    compiled: CompiledList,
    maxItems: number,
  ): IndexedPage | null {
    this.#loaded = null;
    let end = PAGE;
    for (const chunk of chunks) {
      this.#bytes.set(chunk, end);
      end += chunk.length;
    }
    this.#bytes.fill(0, end, end + PADDING);
    if (secret !== null && this.#contains(secret, end - PAGE)) return null;
    if (!isUtf8(this.#bytes.subarray(PAGE, end))) return null;
    this.#loadList(compiled);
    const length = this.#untilTrap(() => {
      const heapEnd = end + PADDING + heapBytes(end - PAGE);
      return this.kernel.functions.index(end - PAGE, compiled.address, maxItems, heapEnd);
    });
    if (length === null) return null;
    const hasRepeats = this.#word(RESULT + RESULT_REPEATS) !== 0;
    const image = this.#keep(length);
    const page = new IndexedPage(list, compiled, image, length, hasRepeats, this.#pool);
    this.#loaded = { page, marks: 0, from: 0, to: length };
    return page;
  }

  /** Writes the items from `from` to `to`, or some of them. */
  write(plan: KernelPlan, page: IndexedPage, from: number, to: number, values: WriteValues): Written {
    this.#load(page, from, to);
    this.#loadPlan(plan);
    this.#loadSubject(values.subject);
    const end = plan.needsCursors ? this.#loadCursors(from, to, values.cursorOf) : to;
    const next = this.kernel.functions.write(from, end);
    const stop = this.#word(RESULT + RESULT_STOP);
    const bytes = this.#bytes.subarray(OUTPUT, this.#word(RESULT + RESULT_OUTPUT_END));
    // An item that the whole output has no room for is left to the object writer, as is one with such a cursor.
    return { bytes, next, isOdd: stop === ODD || (next === from && next < to) };
  }

  /** What `compileChains` returned. */
  loadChains(image: Buffer): void {
    if (this.#chains === image) return;
    this.#bytes.set(image, CHAINS);
    this.#chains = image;
  }

  /** The hash that the row of an item with this identity has. */
  hashOf(identity: string): bigint {
    this.#subject = null;
    return this.kernel.functions.hashOf(TEXTS, this.#bytes.write(identity, TEXTS));
  }

  /** A secret that there is no room for counts as contained. */
  #contains(secret: Uint8Array, length: number): boolean {
    if (secret.length === 0 || secret.length > TEXTS_END - TEXTS) return true;
    this.#subject = null;
    this.#bytes.set(secret, TEXTS);
    return this.kernel.functions.contains(length, secret.length) !== 0;
  }

  /** Copies the page and its index to a buffer of the pool. */
  #keep(length: number): PageImage {
    const rowsAt = this.#word(RESULT + RESULT_HEAP_END) - PAGE;
    const buffer = this.#pool.take(rowsAt + length * ROW_BYTES);
    this.#bytes.copy(buffer, 0, PAGE, PAGE + rowsAt);
    this.#bytes.copy(buffer, rowsAt, ROWS, ROWS + length * ROW_BYTES);
    const members: number[] = [];
    for (let at = RESULT_MEMBERS; at < RESULT_MEMBERS + MEMBERS * SPAN_BYTES; at += 4)
      members.push(this.#word(RESULT + at));
    return { buffer, address: PAGE, rowsAt, members };
  }

  /**
   * Copies items of a kept page to where they were indexed. An item's spans lie in its own JSON and in its own part of the
   * heap, which begins with its record. So nothing of another page is read.
   */
  #load(page: IndexedPage, from: number, to: number): void {
    const loaded = this.#loaded;
    const { marks } = page;
    if (loaded?.page === page && loaded.marks === marks && loaded.from <= from && to <= loaded.to) return;
    const { buffer, address, rowsAt } = page.image;
    const copy = (start: number, end: number) =>
      this.#bytes.set(buffer.subarray(start, end), address + start);
    const rowOf = (index: number) => rowsAt + index * ROW_BYTES;
    this.#loaded = { page, marks, from, to };
    this.#bytes.set(buffer.subarray(rowOf(from), rowOf(to)), ROWS + from * ROW_BYTES);
    if (to <= from) return;
    const heapOf = (index: number) =>
      index === page.length ? rowsAt : buffer.readUInt32LE(rowOf(index) + ROW_RECORD) - address;
    const start = buffer.readUInt32LE(rowOf(from) + ROW_START);
    const end = buffer.readUInt32LE(rowOf(to - 1) + ROW_END);
    copy(start - address, end - address);
    copy(heapOf(from), heapOf(to));
  }

  #loadList(compiled: CompiledList): void {
    if (this.#lists.has(compiled)) return;
    this.#bytes.set(compiled.image, compiled.address);
    this.#lists.add(compiled);
  }

  #loadPlan(plan: KernelPlan): void {
    if (this.#plan === plan) return;
    this.#bytes.set(plan.image, PLAN);
    this.#plan = plan;
  }

  #loadSubject(subject: string): void {
    if (this.#subject === subject) return;
    const address = TEXTS_END - SUBJECT_BYTES;
    const json = JSON.stringify(subject);
    if (Buffer.byteLength(json) > SUBJECT_BYTES) throw new RangeError('Expected the address of a list.');
    this.#setSpan(TEXTS, address, this.#bytes.write(json, address));
    this.#subject = subject;
  }

  /** Returns the index of the first item whose cursor had no room. */
  #loadCursors(from: number, to: number, cursorOf: (index: number) => string): number {
    const end = TEXTS_END - SUBJECT_BYTES - TEXT_SLACK;
    const last = Math.min(to, from + MAX_CURSORS);
    const spans = TEXTS + TEXTS_CURSORS;
    let address = spans + MAX_CURSORS * SPAN_BYTES;
    for (let index = from; index < last; index += 1) {
      const cursor = JSON.stringify(cursorOf(index));
      if (address + cursor.length * 3 > end) return index;
      const length = this.#bytes.write(cursor, address);
      this.#setSpan(spans + (index - from) * SPAN_BYTES, address, length);
      address += length;
    }
    return last;
  }

  #setSpan(at: number, address: number, length: number): void {
    this.#words.setUint32(at, address, true);
    this.#words.setUint32(at + SPAN_LENGTH, length, true);
  }

  #word(at: number): number {
    return this.#words.getUint32(at, true);
  }

  /** Returns null where the kernel traps. It has no state that outlives a call, except its guesses of fields. */
  #untilTrap(call: () => number): number | null {
    try {
      return call();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) return null;
      throw error;
    }
  }
}

/** An address in quotes. */
const SUBJECT_BYTES = 256;
const TEXT_SLACK = 32;
/** The cursors of one call. The rest are written by the next. */
const MAX_CURSORS = 512;

/** Real numbers have at most 78 digits. A longer one is left to the plain reader. */
const MAX_DIGITS = 1000;

/**
 * Returns the JSON of a JSON number: as the exact parser reads it, the same as a string, as the nearest float, or as a
 * string without an exponent. Returns null for a number that has no such form, and for a very long one.
 */
const exactNumberJson = (number: string, style: number): string | null => {
  if (number.length > MAX_DIGITS) return null;
  if (style === FLOAT) {
    const float = Number(number);
    return Number.isFinite(float) ? JSON.stringify(float) : null;
  }
  const value = parseExactJson(number);
  const written =
    style === DECIMAL ? plainDecimal(String(value)) : style === EXACT_TEXT ? String(value) : value;
  return written === null ? null : JSON.stringify(written);
};
