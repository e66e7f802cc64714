import type { Decoded, Hex } from '../types.ts';
import { decodeCall, type Method } from './abi.ts';
import { solidity } from './standards.ts';

/** How a transaction failed, in the words of its node. */
export type Failure = {
  /** The data that it reverted with; null where the EVM halted at something else. */
  readonly data: Hex | null;
  /** What the EVM halted at, such as `out of gas`; null for a revert. */
  readonly halted: string | null;
  /** The contract whose code reverted first, before its callers passed the data on; null where the node does not say it. */
  readonly by: Hex | null;
};

/** Why a transaction failed. What is null is not known. */
export type Revert = {
  /** In words. */
  readonly message: string | null;
  readonly data: Hex | null;
  /** The error that the data is. */
  readonly decoded: Decoded | null;
};

/** The codes of `Panic`: https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const PANICS: Readonly<Record<string, string>> = {
  '1': 'an assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division by zero',
  '33': 'a value that the enum does not have',
  '34': 'a storage byte array that is not encoded correctly',
  '49': 'pop of an empty array',
  '50': 'an index out of bounds',
  '65': 'too much memory',
  '81': 'a call of an uninitialized function',
};

/** A contract may say anything, at any length. */
const MAX_TEXT = 1_000;
const MAX_DIGITS = 64 * 1024;

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** Reads a failure. Errors of the language are known, others are looked up by `decode`. */
export const revertOf = (
  { data, halted }: Pick<Failure, 'data' | 'halted'>,
  decode: (data: Hex) => Decoded | null,
): Revert => {
  if (data === null || data === '0x')
    return { message: halted ?? 'reverted without a reason', data, decoded: null };
  if (data.length > MAX_DIGITS)
    return { message: `reverted with ${(data.length - 2) / 2} bytes`, data: null, decoded: null };
  const own = decodeAs(solidity.Error, data) ?? decodeAs(solidity.Panic, data);
  const decoded = own ?? decode(data);
  return { message: decoded === null ? null : cut(wordsOf(decoded, own !== null)), data, decoded };
};

/** A failure of which it is known which error it was, but not the data. */
export const revertBy = (decoded: Decoded): Revert => {
  const isOwn = decoded.name === solidity.Error.name || decoded.name === solidity.Panic.name;
  return { message: cut(wordsOf(decoded, isOwn)), data: null, decoded };
};

const decodeAs = (known: Method, data: Hex): Decoded | null =>
  data.startsWith(known.selector) ? decodeCall(known, data) : null;

const wordsOf = ({ name, inputs }: Decoded, isOwn: boolean): string => {
  const [value] = inputs.map((input) => input.value);
  if (isOwn && name === solidity.Error.name) return String(value);
  if (isOwn) return `${PANICS[String(value)] ?? 'panic'} (Panic 0x${BigInt(String(value)).toString(16)})`;
  const values = inputs.map((input) => {
    const text = typeof input.value === 'string' ? input.value : JSON.stringify(input.value);
    return input.name === '' ? text : `${input.name}: ${text}`;
  });
  return `${name}(${values.join(', ')})`;
};
