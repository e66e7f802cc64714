import type { InternalTransfer } from '../../node/traces.ts';
import type { Hex, LogEntry } from '../../types.ts';
import type { ParsedTransaction } from './parse.ts';
import { TOPICS } from './readings.ts';

/** How addresses, amounts and transactions are written into the file of the index. */

/** The bytes of a hex text. */
export const bytesOf = (hex: Hex): Uint8Array => Buffer.from(hex.slice(2), 'hex');

export const hexOf = (bytes: Uint8Array): Hex => `0x${digitsOf(bytes)}`;

const digitsOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

const ZERO = 0x80;

/**
 * A whole number of up to 127 bytes. Comparing the bytes compares the numbers: the first byte says the sign and the length,
 * and the others are the magnitude, complemented where it is negative.
 */
export const amountBytes = (amount: bigint): Uint8Array => {
  if (amount === 0n) return Uint8Array.of(ZERO);
  const digits = (amount < 0n ? -amount : amount).toString(16);
  const length = (digits.length + 1) >>> 1;
  const bytes = Buffer.from(digits.padStart(length * 2 + 2, '0'), 'hex');
  if (amount < 0n) for (let at = 1; at <= length; at += 1) bytes[at] = ~(bytes[at] ?? 0);
  bytes[0] = amount < 0n ? ZERO - length : ZERO + length;
  return bytes;
};

export const amountOf = (bytes: Uint8Array): bigint => {
  const head = bytes[0] ?? ZERO;
  if (head === ZERO) return 0n;
  const magnitude = bytes.subarray(1);
  return head > ZERO ? BigInt(hexOf(magnitude)) : -BigInt(hexOf(magnitude.map((byte) => ~byte)));
};

/**
 * The bytes of a transaction. Most of what a chain stores are words of 32 bytes with zeros in front, one of few topics, or an
 * address that the transaction has named before: without these it takes about a third of the room.
 */
export const encodeTransaction = (transaction: ParsedTransaction): Uint8Array => {
  const { to, created, success, internal, logs, otherFee } = transaction;
  const writer = new Writer(roomFor(transaction));
  writer.count(
    (success === true ? 1 : 0) |
      (to === null ? 0 : 2) |
      (created === null ? 0 : 4) |
      (success === null ? 8 : 0) |
      (otherFee === 0n ? 0 : 16),
  );
  writer.raw(transaction.hash);
  writer.address(transaction.from);
  if (to !== null) writer.address(to);
  if (created !== null) writer.address(created);
  writer.count(transaction.type);
  writer.count(transaction.nonce);
  for (const value of [
    transaction.value,
    transaction.gasPrice,
    transaction.gasUsed,
    transaction.effectiveGasPrice,
  ])
    writer.number(value);
  writer.data(transaction.data);
  writer.count(logs.length);
  for (const log of logs) writer.log(log);
  writer.count(internal.length);
  for (const { from, to: recipient, value } of internal) {
    writer.address(from);
    writer.address(recipient);
    writer.number(value);
  }
  if (otherFee !== 0n) writer.number(otherFee);
  return writer.written();
};

/** Reads what `encodeTransaction` wrote. `index` is the position in the block, which is not in the bytes. */
export const decodeTransaction = (bytes: Uint8Array, index: number): ParsedTransaction => {
  const reader = new Reader(bytes);
  const flags = reader.count();
  // The members are read in the order in which they are written.
  return {
    index,
    success: (flags & 8) !== 0 ? null : (flags & 1) !== 0,
    hash: reader.raw(32),
    from: reader.address(),
    to: (flags & 2) === 0 ? null : reader.address(),
    created: (flags & 4) === 0 ? null : reader.address(),
    type: reader.count(),
    nonce: reader.count(),
    value: reader.number(),
    gasPrice: reader.number(),
    gasUsed: reader.number(),
    effectiveGasPrice: reader.number(),
    data: reader.data(),
    logs: Array.from({ length: reader.count() }, (): LogEntry => reader.log()),
    internal: Array.from(
      { length: reader.count() },
      (): InternalTransfer => ({ from: reader.address(), to: reader.address(), value: reader.number() }),
    ),
    otherFee: (flags & 16) === 0 ? 0n : reader.number(),
  };
};

/**
 * Topics that are written as their position in this list, behind the lengths that a word can have. Another order would be
 * another format.
 */
const KNOWN_TOPICS: readonly Hex[] = [
  TOPICS.transfer,
  TOPICS.approval,
  TOPICS.approvalForAll,
  TOPICS.single,
  TOPICS.batch,
  TOPICS.deposit,
  TOPICS.withdrawal,
];
const WORD_BYTES = 32;
const TOPIC_CODES: ReadonlyMap<string, number> = new Map(
  KNOWN_TOPICS.map((topic, at) => [topic, WORD_BYTES + 1 + at]),
);

/** Behind the codes of topics: addresses as the position among those that the transaction has named before. */
const FIRST_ADDRESS_CODE = WORD_BYTES + 1 + KNOWN_TOPICS.length;
const MAX_ADDRESSES = 0x100 - FIRST_ADDRESS_CODE;
const ADDRESS_BYTES = 20;
/** A word that begins with as many zeros as an address, and has more than a few bytes of one, may be one. */
const MIN_ADDRESS_BYTES = 16;

/** Numbers of hex digits: those of a word, and those of the selector in front of the words of a call. */
const WORD = 2 * WORD_BYTES;
const SELECTOR = 8;

/** The digits in front of the words that data is made of; all of them when it is made of something else. */
const headOf = (digits: number): number =>
  digits % WORD === 0 || digits % WORD === SELECTOR ? digits % WORD : digits;

/** Bytes that are enough for a transaction. Data is a text of two digits a byte, which is more than it needs. */
const roomFor = ({ data, logs, internal }: ParsedTransaction): number =>
  logs.reduce((room, log) => room + 200 + log.data.length, 400 + data.length + 80 * internal.length);

class Writer {
  readonly #bytes: Buffer;
  /** The digits of the addresses so far, by which code they can be written. */
  readonly #addresses = new Map<string, number>();
  #at = 0;

  constructor(room: number) {
    this.#bytes = Buffer.allocUnsafe(room);
  }

  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Seven bits a byte, the lowest first. */
  count(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#byte((rest % 0x80) | 0x80);
    this.#byte(rest);
  }

  raw(hex: Hex): void {
    this.#digits(hex.slice(2));
  }

  /** Its code, or its length and bytes. */
  address(hex: Hex): void {
    const digits = hex.slice(2);
    if (!this.#named(digits)) this.#short(digits);
  }

  number(value: bigint): void {
    const digits = value === 0n ? '' : value.toString(16);
    this.#short(digits.length % 2 === 0 ? digits : `0${digits}`);
  }

  data(hex: Hex): void {
    const digits = hex.length - 2;
    const words = 2 + headOf(digits);
    this.count(digits / 2);
    this.#digits(hex.slice(2, words));
    for (let from = words; from < hex.length; from += WORD) this.#word(hex, from);
  }

  log({ address, topics, data }: LogEntry): void {
    this.address(address);
    this.count(topics.length);
    for (const topic of topics) {
      const code = TOPIC_CODES.get(topic);
      if (code === undefined) this.#word(topic, 2);
      else this.#byte(code);
    }
    this.data(data);
  }

  #word(hex: Hex, from: number): void {
    let first = from;
    while (first < from + WORD && hex.startsWith('00', first)) first += 2;
    const end = from + WORD;
    if (mayBeAddress((end - first) / 2) && this.#named(hex.slice(end - 2 * ADDRESS_BYTES, end))) return;
    this.#short(hex.slice(first, end));
  }

  /** Writes the code of an address that was named before. Another one gets the next code. */
  #named(digits: string): boolean {
    const code = this.#addresses.get(digits);
    if (code !== undefined) this.#byte(code);
    else if (this.#addresses.size < MAX_ADDRESSES)
      this.#addresses.set(digits, FIRST_ADDRESS_CODE + this.#addresses.size);
    return code !== undefined;
  }

  /** At most 32 bytes, behind their number. */
  #short(digits: string): void {
    this.#byte(digits.length / 2);
    this.#digits(digits);
  }

  #digits(digits: string): void {
    this.#at += this.#bytes.write(digits, this.#at, 'hex');
  }

  #byte(value: number): void {
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }
}

const mayBeAddress = (bytes: number): boolean => bytes >= MIN_ADDRESS_BYTES && bytes <= ADDRESS_BYTES;

const ZEROS = '0'.repeat(WORD);

class Reader {
  readonly #bytes: Uint8Array;
  /** All bytes as digits: slices of one text are made faster than texts of their own. */
  readonly #digits: string;
  /** The digits of the addresses so far, in the order of their codes. */
  readonly #addresses: string[] = [];
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#digits = digitsOf(bytes);
  }

  count(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }

  raw(bytes: number): Hex {
    return `0x${this.#take(bytes)}`;
  }

  address(): Hex {
    return `0x${this.#word(this.#byte()).slice(-2 * ADDRESS_BYTES)}`;
  }

  number(): bigint {
    const length = this.#byte();
    return length === 0 ? 0n : BigInt(this.raw(length));
  }

  data(): Hex {
    const digits = 2 * this.count();
    const head = headOf(digits);
    const parts = [this.#take(head / 2)];
    for (let left = digits - head; left > 0; left -= WORD) parts.push(this.#word(this.#byte()));
    return `0x${parts.join('')}`;
  }

  log(): LogEntry {
    return {
      address: this.address(),
      topics: Array.from({ length: this.count() }, () => this.#topic()),
      data: this.data(),
    };
  }

  #topic(): Hex {
    const code = this.#byte();
    return KNOWN_TOPICS[code - WORD_BYTES - 1] ?? `0x${this.#word(code)}`;
  }

  /** The digits of a word, by the number of its bytes or the code of an address. */
  #word(code: number): string {
    const named = this.#addresses[code - FIRST_ADDRESS_CODE];
    if (named !== undefined) return ZEROS.slice(2 * ADDRESS_BYTES) + named;
    const word = ZEROS.slice(2 * code) + this.#take(code);
    if (mayBeAddress(code) && this.#addresses.length < MAX_ADDRESSES)
      this.#addresses.push(word.slice(-2 * ADDRESS_BYTES));
    return word;
  }

  #take(bytes: number): string {
    const from = 2 * this.#at;
    this.#at += bytes;
    return this.#digits.slice(from, 2 * this.#at);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at] ?? 0;
    this.#at += 1;
    return byte;
  }
}
