import type { BufferPool } from '../../lib/buffers.ts';
import { contentDigest } from '../parse/derived.ts';
import { type CompiledList, ENVELOPE_MEMBERS, type IndexedList } from './compile-list.ts';
import {
  ROW_BYTES,
  ROW_END,
  ROW_HASH,
  ROW_IS_ODD,
  ROW_RECORD,
  ROW_START,
  ROW_TIME,
  SPAN_LENGTH,
} from './layout.ts';

/** What the kernel found on a page. Addresses are those of its memory. */
export type PageImage = {
  /** The body, the records and side texts behind it, and the rows. It may be longer. */
  readonly buffer: Buffer;
  /** The address of the buffer's first byte. */
  readonly address: number;
  /** The bytes of the buffer before its rows. */
  readonly rowsAt: number;
  /** The spans of the envelope's members: of each its address and length, 0 where the page has no such member. */
  readonly members: readonly number[];
};

const QUOTE = 0x22;
const ZERO = 0x30;
const NOTHING = new DataView(new ArrayBuffer(0));

/** Where records have what pages read of them. */
type Slots = Pick<CompiledList, 'identitySlots' | 'contentSlots' | 'chainIdSlot' | 'chainSlot'>;

/**
 * A page as its bytes and their index, in one buffer. Only the marks of odd items change. Its spans lie within it by
 * construction: the kernel makes them of addresses that it has just read or written, and each item's within the item's own bytes.
 *
 * Users that call `retain` and `release` have its buffer used again once the last of them has released it. From then on
 * the page has no buffer, and reading it throws. A page that is not released so is freed by the garbage collector.
 */
export class IndexedPage {
  readonly list: IndexedList;
  readonly length: number;
  /**
   * Whether two items may have the same identity, odd items left aside. If false, no two have.
   */
  readonly hasRepeats: boolean;
  #image: PageImage | null;
  #view: DataView;
  readonly #pool: BufferPool;
  #users = 0;
  #marks = 0;
  readonly #slots: Slots;

  constructor(
    list: IndexedList,
    slots: Slots,
    image: PageImage,
    length: number,
    hasRepeats: boolean,
    pool: BufferPool,
  ) {
    this.list = list;
    this.length = length;
    this.hasRepeats = hasRepeats;
    this.#image = image;
    this.#pool = pool;
    this.#slots = slots;
    const { buffer } = image;
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }

  /** For the kernel alone. */
  get image(): PageImage {
    if (this.#image === null)
      throw new TypeError('Expected a page that is in use, got one that is released.');
    return this.#image;
  }

  /** The memory that the page takes. */
  get bytes(): number {
    return this.image.buffer.length;
  }

  retain(): void {
    this.#users += 1;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users !== 0 || this.#image === null) return;
    this.#pool.give(this.#image.buffer);
    this.#image = null;
    this.#view = NOTHING;
  }

  /** Whether the item is left to the plain reader: it is malformed, or has something in a rare form. */
  isOdd(index: number): boolean {
    return this.#word(this.#row(index) + ROW_IS_ODD) !== 0;
  }

  /** Leaves an item to the plain reader. */
  markOdd(index: number): void {
    this.#view.setUint32(this.#row(index) + ROW_IS_ODD, 1, true);
    this.#marks += 1;
  }

  /** The number of items that were marked as odd since the kernel indexed them. */
  get marks(): number {
    return this.#marks;
  }

  /** What an item that is not odd says of its chain. */
  chainOf(index: number): { readonly chainId: number | null; readonly chain: string | null } {
    const record = this.#word(this.#row(index) + ROW_RECORD) - this.image.address;
    const { chainIdSlot, chainSlot } = this.#slots;
    const chainId = chainIdSlot === null ? null : this.#digits(record + chainIdSlot);
    if (chainId !== null || chainSlot === null) return { chainId, chain: null };
    return { chainId, chain: this.#value(record + chainSlot, '') };
  }

  /** The chain id in a slot, which the kernel has written as digits; null for none. */
  #digits(slot: number): number | null {
    const { buffer, address } = this.image;
    const start = this.#word(slot) - address;
    if (start < 0) return null;
    let integer = 0;
    for (let at = start; at < start + this.#word(slot + SPAN_LENGTH); at += 1)
      integer = integer * 10 + (buffer[at] ?? ZERO) - ZERO;
    return integer;
  }

  /** The length of the item's JSON, in bytes. */
  size(index: number): number {
    const row = this.#row(index);
    return this.#word(row + ROW_END) - this.#word(row + ROW_START);
  }

  /** The JSON of the item, as upstream sent it. */
  json(index: number): string {
    const row = this.#row(index);
    return this.#text(this.#word(row + ROW_START), this.#word(row + ROW_END));
  }

  /** Milliseconds since 1970 of an item that is not odd; null in a list that is not ordered by time. */
  time(index: number): number | null {
    if (this.list.order.kind !== 'newestFirst') return null;
    return this.#view.getFloat64(this.#row(index) + ROW_TIME, true);
  }

  /** The identity of an item that is not odd. */
  identity(index: number): string {
    const record = this.#word(this.#row(index) + ROW_RECORD) - this.image.address;
    const { identitySlots, contentSlots } = this.#slots;
    let identity = '';
    for (const slot of identitySlots) {
      const part = this.#value(record + slot, 'null');
      identity += slot === identitySlots[0] ? part : `:${part}`;
    }
    if (contentSlots === null) return identity;
    return `${identity}:${contentDigest(contentSlots.map((slot) => this.#value(record + slot, '')))}`;
  }

  /** The text of the string or number in a slot; `absent` for null. */
  #value(slot: number, absent: string): string {
    const start = this.#word(slot);
    if (start === 0) return absent;
    const end = start + this.#word(slot + SPAN_LENGTH);
    if (this.image.buffer[start - this.image.address] !== QUOTE) return this.#text(start, end);
    const text = this.#text(start + 1, end - 1);
    return text.includes('\\') ? JSON.parse(`"${text}"`) : text;
  }

  /** The index of the first item that is not odd and has this identity, whose hash the kernel made; -1 for none. */
  indexOf(identity: string, hash: bigint): number {
    const low = Number(hash & 0xffff_ffffn);
    for (let index = 0; index < this.length; index += 1)
      if (
        this.#word(this.#row(index) + ROW_HASH) === low &&
        !this.isOdd(index) &&
        this.identity(index) === identity
      )
        return index;
    return -1;
  }

  /** The JSON of the page without its items: what the plain parser reads of it. */
  envelope(): string {
    const { members } = this.image;
    let json = `{"${this.list.itemsField}":[]`;
    for (const [index, name] of ENVELOPE_MEMBERS.entries()) {
      const address = members[2 * index + 2] ?? 0;
      const end = address + (members[2 * index + 3] ?? 0);
      if (address !== 0) json += `,"${name}":${this.#text(address, end)}`;
    }
    return `${json}}`;
  }

  #row(index: number): number {
    if (!(index >= 0 && index < this.length))
      throw new RangeError(`Expected an item of the page, got ${index}.`);
    return this.image.rowsAt + index * ROW_BYTES;
  }

  #word(at: number): number {
    return this.#view.getUint32(at, true);
  }

  #text(address: number, end: number): string {
    return this.image.buffer.toString('utf8', address - this.image.address, end - this.image.address);
  }
}
