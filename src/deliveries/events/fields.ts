/** Readers of single fields that take whatever comes: what is not understood is null, never an error. */

export type RawObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** From a JSON boolean, or from the text `true` or `false` in any case. */
export const booleanOf = (value: unknown): boolean | null => {
  const word = textOf(value)?.trim().toLowerCase();
  if (value === true || word === 'true') return true;
  return value === false || word === 'false' ? false : null;
};

const SCHEMES: readonly string[] = ['http:', 'https:', 'ipfs:'];

/** The text itself, when it is an absolute http, https or ipfs URL. */
export const urlOf = (value: unknown): string | null => {
  const url = textOf(value)?.trim() ?? '';
  return SCHEMES.includes(URL.parse(url)?.protocol ?? '') ? url : null;
};

/** Lower case. */
export const addressOf = (value: unknown): string | null => matching(value, /^0x[0-9a-f]{40}$/);

/** Lower case. */
export const hexOf = (value: unknown): string | null => matching(value, /^0x[0-9a-f]*$/);

const matching = (value: unknown, pattern: RegExp): string | null => {
  const text = textOf(value)?.toLowerCase();
  return text !== undefined && pattern.test(text) ? text : null;
};

/** Of a 256-bit integer there are 78. */
const MAX_DIGITS = 100;

/** A decimal string, from a JSON integer, a decimal string or 0x-hex of at most 100 digits. */
export const integerOf = (value: unknown): string | null => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  const text = textOf(value)?.trim() ?? '';
  return text.length <= MAX_DIGITS && /^(?:-?\d+|0x[0-9a-f]+)$/i.test(text) ? BigInt(text).toString() : null;
};

/** An integer that a float holds exactly, from zero up. */
export const smallIntegerOf = (value: unknown): number | null => {
  const integer = Number(integerOf(value) ?? Number.NaN);
  return Number.isSafeInteger(integer) && integer >= 0 ? integer : null;
};

/** From zero up to what a GraphQL Int holds. */
export const int32Of = (value: unknown): number | null => {
  const integer = smallIntegerOf(value);
  return integer !== null && integer < 2 ** 31 ? integer : null;
};

export const floatOf = (value: unknown): number | null => {
  const text = textOf(value);
  const float = text === null ? value : text.trim() === '' ? null : Number(text);
  return typeof float === 'number' && Number.isFinite(float) ? float : null;
};

const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/** Milliseconds since 1970, from an ISO 8601 date-time; one without a zone is in UTC. */
export const timeOf = (value: unknown): number | null => {
  const text = textOf(value)?.trim() ?? '';
  const match = TIME.exec(text);
  if (match === null) return null;
  const time = Date.parse(match[1] === undefined ? `${text}Z` : text);
  return Number.isNaN(time) ? null : time;
};

/** ISO 8601 in UTC. */
export const isoTimeOf = (value: unknown): string | null => {
  const time = timeOf(value);
  return time === null ? null : new Date(time).toISOString();
};

/** The upper-case name, when it is one of those that are known. */
export const oneOf = <Name extends string>(names: readonly Name[], value: unknown): Name | null => {
  const name = textOf(value)?.toUpperCase();
  return names.find((known) => known === name) ?? null;
};
