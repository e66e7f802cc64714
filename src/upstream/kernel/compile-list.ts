import { ownBytes } from '../../lib/buffers.ts';
import type { ListOrder } from '../parse/list-order.ts';
import type { RecordTable, TableField } from '../parse/record.ts';
import {
  BIT,
  COUNT,
  FIELD_BYTES,
  FIELDS,
  FIRST,
  IS_REQUIRED,
  KIND,
  LIST_IDENTITY,
  LIST_MEMBERS,
  LIST_TABLE,
  LIST_TIME,
  MAX_IDENTITY,
  MEMBERS,
  NAME_BITS,
  NAME_LENGTH,
  NEXT,
  PRESENT_BITS,
  RECORD_BYTES,
  REQUIRED_BITS,
  SLOT_BYTES,
  SLOT_OFFSET,
  SLOTS,
  SPAN_LENGTH,
  TABLE,
} from './layout.ts';
import type { Enumerations } from './module.ts';

/** A table in the kernel's memory. */
export type CompiledTable = {
  readonly address: number;
  /** By property: where its slot lies in a record. */
  readonly fields: ReadonlyMap<string, CompiledField>;
};

export type CompiledField = {
  readonly slot: number;
  readonly field: TableField;
  /** The table of its records; null for any other field. */
  readonly table: CompiledTable | null;
};

/** A list in the kernel's memory, from `address` on. */
export type CompiledList = {
  readonly address: number;
  readonly image: Buffer;
  readonly table: CompiledTable;
  /** The slots of the properties that identify an item. */
  readonly identitySlots: readonly number[];
  /** Those that tell items of equal identity apart; null for a list without such. */
  readonly contentSlots: readonly number[] | null;
  /** Where an item says its chain, by id and by name; null where it does not. */
  readonly chainIdSlot: number | null;
  readonly chainSlot: number | null;
};

/** The members of a page beside its items, in the kernel's order. */
export const ENVELOPE_MEMBERS = [
  'next_offset',
  'request_time',
  'response_time',
  'errors',
  'warnings',
] as const;

/** A bit for each field. */
const MAX_FIELDS = 32;

/** Compiles a list to what the kernel has at `address`. Throws RangeError for one that is more than it has room for. */
export const compileList = (
  list: IndexedList,
  address: number,
  end: number,
  { kinds }: Pick<Enumerations, 'kinds'>,
): CompiledList => {
  const image = new Image(address, end);
  const at = image.allocate(LIST_MEMBERS + MEMBERS * FIELD_BYTES);
  const table = new TableCompiler(image, kinds).compile(list.table);
  const identitySlots = list.identity.map((property) => slotOf(table, property));
  if (identitySlots.length > MAX_IDENTITY) throw new RangeError(`Expected at most ${MAX_IDENTITY} parts.`);
  image.set(at + LIST_TABLE, table.address);
  image.set(at + LIST_TIME, list.order.kind === 'newestFirst' ? slotOf(table, list.order.by) : 0);
  image.set(at + LIST_IDENTITY, ...identitySlots);
  for (const [index, name] of [list.itemsField, ...ENVELOPE_MEMBERS].entries())
    setName(image, at + LIST_MEMBERS + index * FIELD_BYTES, name);
  const contentSlots = list.content?.map((property) => slotOf(table, property)) ?? null;
  const chainIdSlot = table.fields.get('chainId')?.slot ?? null;
  const chainSlot = table.fields.get('chain')?.slot ?? null;
  return {
    ...{ address: at, image: image.finish(), table },
    ...{ identitySlots, contentSlots, chainIdSlot, chainSlot },
  };
};

/** Compiles each table once, wherever its records are. */
class TableCompiler {
  readonly #image: Image;
  readonly #kinds: ReadonlyMap<string, number>;
  readonly #compiled = new Map<RecordTable, CompiledTable>();

  constructor(image: Image, kinds: ReadonlyMap<string, number>) {
    this.#image = image;
    this.#kinds = kinds;
  }

  compile(table: RecordTable): CompiledTable {
    const known = this.#compiled.get(table);
    if (known) return known;
    const fields = new Map<string, CompiledField>();
    const compiled = { address: this.#compileFields(table.fields, table.presentIf ?? [], fields), fields };
    this.#compiled.set(table, compiled);
    return compiled;
  }

  /** Compiles the fields of an object, whose slots lie in a record behind those of `compiled`. Returns their address. */
  #compileFields(
    fields: RecordTable['fields'],
    presentIf: readonly string[],
    compiled: Map<string, CompiledField>,
  ): number {
    const entries = Object.entries(fields);
    const count = entries.length;
    if (count > MAX_FIELDS) throw new RangeError(`Expected at most ${MAX_FIELDS} fields.`);
    const address = this.#image.allocate(FIELDS + count * FIELD_BYTES);
    const addressOf = (index: number) => address + FIELDS + (index % count) * FIELD_BYTES;
    for (const [index, [property, field]] of entries.entries()) {
      const slot = slotAt(compiled.size);
      const table = this.#innerTable(field);
      if (!('inline' in field)) compiled.set(property, { slot, field, table });
      const inner = 'inline' in field ? this.#compileFields(field.inline, [], compiled) : table?.address;
      const kind = this.#kinds.get(kindOf(field));
      if (kind === undefined) throw new TypeError(`Expected a kind of field that the kernel knows.`);
      const at = addressOf(index);
      setName(this.#image, at, field.from);
      this.#image.set(at + KIND, kind);
      this.#image.set(at + IS_REQUIRED, Number(isNeeded(field)));
      this.#image.set(at + TABLE, inner ?? 0);
      this.#image.set(at + SLOT_OFFSET, slot);
      this.#image.set(at + BIT, 1 << index);
      this.#image.set(at + NEXT, addressOf(index + 1));
    }
    this.#image.set(address + COUNT, count);
    this.#image.set(address + RECORD_BYTES, slotAt(compiled.size));
    this.#image.set(address + REQUIRED_BITS, bitsOf(entries, isNeeded));
    this.#image.set(
      address + PRESENT_BITS,
      bitsOf(entries, ({ from }) => presentIf.includes(from)),
    );
    this.#image.set(address + FIRST, addressOf(0));
    return address;
  }

  #innerTable(field: TableField): CompiledTable | null {
    if ('record' in field) return this.compile(field.record);
    return 'records' in field ? this.compile(field.records) : null;
  }
}

const slotAt = (index: number): number => SLOTS + index * SLOT_BYTES;

/** A bit for each of the fields. */
const bitsOf = (
  entries: readonly (readonly [property: string, field: TableField])[],
  has: (field: TableField) => boolean,
): number => entries.reduce((bits, [, field], index) => (has(field) ? bits | (1 << index) : bits), 0);

/** Returns where the slot of a property lies in a record. Throws TypeError for one that the table does not have. */
const slotOf = ({ fields }: CompiledTable, property: string): number => {
  const field = fields.get(property);
  if (!field) throw new TypeError(`Expected a property of the table, got ${property}.`);
  return field.slot;
};

const kindOf = (field: TableField): string => {
  if ('kind' in field) return field.kind;
  if ('inline' in field) return 'inline';
  return 'listOf' in field ? 'hexList' : field.mode;
};

const LAX: ReadonlySet<string> = new Set([
  'json',
  'texts',
  'text',
  'lenientString',
  'webUrl',
  'tokenDecimals',
]);

/** Whether a record without the field is malformed. */
const isNeeded = (field: TableField): boolean => 'kind' in field && field.required && !LAX.has(field.kind);

/** Names are compared 16 bytes at a time. */
const COMPARED_BYTES = 16;

const setName = (image: Image, address: number, name: string): void => {
  const text = JSON.stringify(name);
  if (text.length > NAME_LENGTH || !/^"\w+"$/.test(text))
    throw new RangeError(`Expected a short name of ASCII letters, got ${text}.`);
  image.setText(address, text);
  const compared = Math.min(text.length, COMPARED_BYTES);
  image.set(address + NAME_LENGTH, text.length);
  image.set(address + NAME_BITS, (1 << compared) - 1);
};

/** A text in the memory of the kernel. */
export type Span = { readonly address: number; readonly length: number };

/** Most images are smaller. */
const FIRST_BYTES = 2048;

/** Builds what the kernel has at a fixed region of its memory: words and texts. Throws RangeError where it has no room. */
export class Image {
  readonly #address: number;
  readonly #capacity: number;
  #bytes = Buffer.alloc(FIRST_BYTES);
  #used = 0;

  constructor(address: number, end: number) {
    this.#address = address;
    this.#capacity = end - address;
  }

  /** Returns the address of this many bytes, all 0. */
  allocate(bytes: number): number {
    const address = this.#address + this.#used;
    this.#used += (bytes + 3) & ~3;
    if (this.#used > this.#capacity) throw new RangeError('The kernel has no room for this.');
    if (this.#used > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * this.#used);
    return address;
  }

  /** Writes words of four bytes from `address` on. */
  set(address: number, ...words: readonly number[]): void {
    for (const [index, word] of words.entries())
      this.#bytes.writeUInt32LE(word >>> 0, address - this.#address + index * 4);
  }

  setSpan(at: number, { address, length }: Span): void {
    this.set(at, address);
    this.set(at + SPAN_LENGTH, length);
  }

  text(text: string): Span {
    const length = Buffer.byteLength(text);
    const address = this.allocate(length);
    this.setText(address, text);
    return { address, length };
  }

  setText(address: number, text: string): void {
    this.#bytes.write(text, address - this.#address);
  }

  /** Returns what has been written. Nothing may be written after that. */
  finish(): Buffer {
    return ownBytes(this.#bytes.subarray(0, this.#used));
  }
}

/** A list of the service whose pages the kernel indexes. */
export type IndexedList = {
  /** The page's member that has the items. */
  readonly itemsField: string;
  readonly table: RecordTable;
  /** The property of an item that repeats the subject of its list, such as the wallet's address. It is not in the table. */
  readonly subject: string;
  /** The required properties that identify an item: their values, with colons between. Four at most. */
  readonly identity: readonly string[];
  /** What tells items of equal identity apart: a digest of the values follows the identity. The kernel does not see it. */
  readonly content?: readonly string[];
  /** A list that is ordered by time has no other time in its table. */
  readonly order: ListOrder;
};
