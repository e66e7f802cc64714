import type { Parameter } from 'ox/AbiParameters';
import type { Hex } from '../types.ts';

/**
 * Values of the ABI's types, read from data that anyone may have written. Unlike common decoders it takes only values that fit
 * their types, since a selector of four bytes says little about what follows, and it reads each byte about once, since offsets
 * can point at the same megabyte a thousand times.
 */

/** A decoded value: a scalar is a string, an array or a tuple is an array of its members. */
export type Value = string | readonly Value[];

/** Data that is being read. */
type Reader = {
  /** Hex digits. */
  readonly digits: string;
  /** The number of bytes that may still be read. */
  left: number;
};

/** A type, as it is read. Positions and sizes are in bytes. */
type Type = {
  /** The space that it takes in a tuple or an array: its own, or that of its offset if it is dynamic. */
  readonly size: number;
  readonly isDynamic: boolean;
  /** @throws when there is no such value at the position. */
  readonly read: (reader: Reader, at: number) => Value;
};

/** Thrown where data does not fit. Only `readValues` sees it. */
const MISFIT = new Error('The data does not fit the type.');

const WORD = 32;
/** An encoder may let values overlap, such as one empty array for all that are empty. */
const SPARE_BYTES = 4_096;
/** No contract nests deeper. */
const MAX_DEPTH = 16;

/** Reads the digits of some bytes. What is read twice counts twice, and what takes no space counts as a word. */
const take = (reader: Reader, at: number, size: number): string => {
  reader.left -= Math.max(size, WORD);
  // Also false for a position beyond 2^53, where numbers are no longer exact.
  if (reader.left < 0 || !(2 * (at + size) <= reader.digits.length)) throw MISFIT;
  return reader.digits.slice(2 * at, 2 * (at + size));
};

const word = (reader: Reader, at: number): string => take(reader, at, WORD);

/** An offset or a length. A number beyond the exact ones is beyond any data, too. */
const count = (reader: Reader, at: number): number => Number(`0x${word(reader, at)}`);

const scalar = (value: (digits: string) => string | null): Type => ({
  size: WORD,
  isDynamic: false,
  read(reader, at) {
    const found = value(word(reader, at));
    if (found === null) throw MISFIT;
    return found;
  },
});

const integer = (bits: number, isSigned: boolean): Type =>
  scalar((digits) => {
    const value = BigInt(`0x${digits}`);
    const number = isSigned ? BigInt.asIntN(256, value) : value;
    const limited = isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
    return number === limited ? number.toString() : null;
  });

const fixedBytes = (size: number): Type =>
  scalar((digits) => (/^0*$/.test(digits.slice(2 * size)) ? `0x${digits.slice(0, 2 * size)}` : null));

const address = scalar((digits) => (digits.startsWith('0'.repeat(24)) ? `0x${digits.slice(24)}` : null));

const bool = scalar((digits) => {
  const value = BigInt(`0x${digits}`);
  return value > 1n ? null : String(value === 1n);
});

const bytes: Type = {
  size: WORD,
  isDynamic: true,
  read: (reader, at) => `0x${take(reader, at + WORD, count(reader, at))}`,
};

const text: Type = {
  size: WORD,
  isDynamic: true,
  read: (reader, at) => Buffer.from(take(reader, at + WORD, count(reader, at)), 'hex').toString(),
};

/** A member at its place in a tuple or an array, which begins at `start`: that is what offsets count from. */
const readMember = (member: Type, reader: Reader, start: number, at: number): Value =>
  member.read(reader, member.isDynamic ? start + count(reader, at) : at);

const tuple = (members: readonly Type[]): Type => {
  const starts = members.map((_, at) => members.slice(0, at).reduce((sum, { size }) => sum + size, 0));
  const isDynamic = members.some((member) => member.isDynamic);
  return {
    size: isDynamic ? WORD : members.reduce((sum, { size }) => sum + size, 0),
    isDynamic,
    read(reader, at) {
      if (members.length === 0) take(reader, at, 0);
      return members.map((member, index) => readMember(member, reader, at, at + (starts[index] ?? 0)));
    },
  };
};

const readItems = (item: Type, length: number, reader: Reader, at: number): Value => {
  // Before anything of that length is made.
  if (length * Math.max(item.size, WORD) > reader.left) throw MISFIT;
  if (length === 0 || item.size === 0) take(reader, at, 0);
  return Array.from({ length }, (_, index) => readMember(item, reader, at, at + index * item.size));
};

const fixedArray = (item: Type, length: number): Type => ({
  size: item.isDynamic ? WORD : length * item.size,
  isDynamic: item.isDynamic,
  read: (reader, at) => readItems(item, length, reader, at),
});

const dynamicArray = (item: Type): Type => ({
  size: WORD,
  isDynamic: true,
  read: (reader, at) => readItems(item, count(reader, at), reader, at + WORD),
});

const scalarOf = (name: string): Type | null => {
  if (name === 'address') return address;
  if (name === 'bool') return bool;
  if (name === 'bytes') return bytes;
  if (name === 'string') return text;
  // A contract's address and a selector.
  if (name === 'function') return fixedBytes(24);
  const [, kind, digits] = /^(u?int|bytes)(\d{1,3})$/.exec(name) ?? [];
  const size = Number(digits);
  if (kind === 'bytes') return size >= 1 && size <= 32 ? fixedBytes(size) : null;
  const isSize = size >= 8 && size <= 256 && size % 8 === 0;
  return kind !== undefined && isSize ? integer(size, kind === 'int') : null;
};

const typeOf = (parameter: Parameter, depth = 0): Type => {
  if (depth > MAX_DEPTH) throw new Error(`Expected a type of at most ${MAX_DEPTH} levels.`);
  const [, inner, length] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? [];
  if (inner !== undefined) {
    const item = typeOf({ ...parameter, type: inner }, depth + 1);
    return length === '' ? dynamicArray(item) : fixedArray(item, Number(length));
  }
  if ('components' in parameter && parameter.type === 'tuple')
    return tuple(parameter.components.map((member) => typeOf(member, depth + 1)));
  const found = scalarOf(parameter.type);
  if (found === null) throw new Error(`Expected a type of the ABI, got ${JSON.stringify(parameter.type)}.`);
  return found;
};

/** Whether a type is a scalar of a fixed size. */
export const isOneWord = ({ type }: Parameter): boolean => scalarOf(type)?.isDynamic === false;

/** Reads the values of some parameters from their encoding; null when it does not fit. More data may follow. */
export type ValueReader = (data: Hex) => readonly Value[] | null;

/**
 * Makes a reader of parameters that are encoded together.
 * @throws when a type is not one of the ABI.
 */
export const createValueReader = (parameters: readonly Parameter[]): ValueReader => {
  const whole = tuple(parameters.map((parameter) => typeOf(parameter)));
  return (data) => {
    const digits = data.slice(2);
    try {
      const values = whole.read({ digits, left: digits.length + SPARE_BYTES }, 0);
      return typeof values === 'string' ? null : values;
    } catch (problem) {
      if (problem === MISFIT) return null;
      throw problem;
    }
  };
};
