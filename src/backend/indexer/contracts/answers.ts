import { methodOf } from '../../evm/abi.ts';
import { createValueReader } from '../../evm/abi-values.ts';
import type { Hex } from '../../types.ts';

/**
 * The metadata of a token, as its contract states it. Anyone may have written the contract, so it may answer anything. What it
 * does not say, or not sensibly, is null.
 */
export type ContractAnswers = {
  /** A line of up to 128 characters. */
  readonly name: string | null;
  /** A line of up to 32 characters. */
  readonly symbol: string | null;
  /** 0 to 255. */
  readonly decimals: number | null;
};

/**
 * A stranger's text as one line that is safe to show, of at most `max` characters: without control characters, overrides of
 * direction and stacks of marks. Null when nothing is left.
 */
export const shownText = (text: string, max: number): string | null => {
  const clean = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return [...clean].slice(0, max).join('').trim() || null;
};

const MAX_NAME = 128;
const MAX_SYMBOL = 32;

const QUESTIONS = ['name', 'symbol', 'decimals'].map((method) => methodOf(method, []).selector);

const readText = createValueReader([{ type: 'string' }]);
const readBytes32 = createValueReader([{ type: 'bytes32' }]);
const readDecimals = createValueReader([{ type: 'uint8' }]);

/** A text from the answer of a contract; null for none. The first tokens answered with 32 bytes. */
const textOf = (answer: Hex | null, max: number): string | null => {
  if (answer === null) return null;
  const [text] = readText(answer) ?? [];
  if (typeof text === 'string') return shownText(text, max);
  const [bytes] = answer.length === 66 ? (readBytes32(answer) ?? []) : [];
  if (typeof bytes !== 'string') return null;
  const digits = bytes.slice(2).replace(/(00)+$/, '');
  return shownText(Buffer.from(digits, 'hex').toString(), max);
};

const decimalsOf = (answer: Hex | null): number | null => {
  const [decimals] = (answer === null ? null : readDecimals(answer)) ?? [];
  return typeof decimals === 'string' ? Number(decimals) : null;
};

/** The calls that a contract is asked by. */
export const questionsTo = (to: Hex): readonly { readonly to: Hex; readonly data: Hex }[] =>
  QUESTIONS.map((data) => ({ to, data }));

/** Reads the results of the calls; null for a call that failed. */
export const readAnswers = ([
  name = null,
  symbol = null,
  decimals = null,
]: readonly (Hex | null)[]): ContractAnswers => ({
  name: textOf(name, MAX_NAME),
  symbol: textOf(symbol, MAX_SYMBOL),
  decimals: decimalsOf(decimals),
});
