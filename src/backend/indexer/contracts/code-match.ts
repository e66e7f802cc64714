import { createHash } from 'node:crypto';
import type { Hex } from '../../types.ts';

/**
 * Recognises what a compiler made in the code of a contract. A deployment fills in immutables, the addresses of libraries, and a
 * library's own address. The metadata at the end are others where only a comment or a path is another one.
 */

/** Hex digits that are not compared. */
type Hole = readonly [from: number, to: number];

type Print = { readonly size: number; readonly holes: readonly Hole[]; readonly hash: string };

/** Code as the compiler made it: all of it, and without metadata. */
export type Fingerprint = { readonly whole: Print; readonly bare: Print };

/** More than any chain deploys. */
const MAX_DIGITS = 2 * 512 * 1024;

/** The compiler leaves zeros where it pushes an immutable, and pushes no number like that. */
const IMMUTABLE = /(?<=7f)0{64}/g;
/** A library begins by comparing its own address. */
const OWN_ADDRESS = /(?<=^73)0{40}(?=30)/g;
/** In the place of a library's address. */
const UNLINKED = /__.{38}/g;
const ADDRESS_DIGITS = 40;
/** The hash of metadata, also those of a contract that the contract creates. */
const METADATA_HASH = /(?<=64697066735822)1220.{64}/g;

/** Reads the `deployedBytecode` of an artifact, with or without `0x`; null where that is no code. */
export const fingerprintOf = (text: string): Fingerprint | null => {
  const written = text.replace(/^0x/, '').toLowerCase();
  const digits = written.replace(UNLINKED, '0'.repeat(ADDRESS_DIGITS));
  if (!isCode(digits)) return null;
  const filled = [
    ...rangesOf(UNLINKED, written),
    ...rangesOf(IMMUTABLE, digits),
    ...rangesOf(OWN_ADDRESS, digits),
  ];
  const body = withoutMetadata(digits);
  return {
    whole: printOf(digits, filled),
    bare: printOf(body, [...filled, ...rangesOf(METADATA_HASH, body)]),
  };
};

/** Finds what was compiled to the code of a contract: all that fit it equally well. */
export const createCodeIndex = <Item extends { readonly code: Fingerprint | null }>(
  items: readonly Item[],
): ((code: Hex) => readonly Item[]) => {
  const compiled = items.flatMap((item) => (item.code === null ? [] : [{ item, ...item.code }]));
  const whole = Map.groupBy(compiled, (each) => each.whole.size);
  const bare = Map.groupBy(compiled, (each) => each.bare.size);
  return (code) => {
    const digits = code.slice(2);
    if (!isCode(digits)) return [];
    const body = withoutMetadata(digits);
    const same = (whole.get(digits.length) ?? []).filter((each) => fits(digits, each.whole));
    const found =
      same.length > 0 ? same : (bare.get(body.length) ?? []).filter((each) => fits(body, each.bare));
    return found.map(({ item }) => item);
  };
};

const isCode = (digits: string): boolean =>
  digits !== '' && digits.length <= MAX_DIGITS && /^(?:[0-9a-f]{2})+$/.test(digits);

/** Where whole bytes match. */
const rangesOf = (pattern: RegExp, digits: string): readonly Hole[] =>
  [...digits.matchAll(pattern)].flatMap(({ index, 0: found }) =>
    index % 2 === 0 ? [[index, index + found.length]] : [],
  );

const printOf = (digits: string, holes: readonly Hole[]): Print => ({
  size: digits.length,
  holes,
  hash: hashOf(digits, holes),
});

const fits = (digits: string, { holes, hash }: Print): boolean => hashOf(digits, holes) === hash;

const hashOf = (digits: string, holes: readonly Hole[]): string => {
  const text = Buffer.from(digits, 'latin1');
  for (const [from, to] of holes) text.fill('0', from, to);
  return createHash('sha256').update(text).digest('base64');
};

/** The last two bytes are the length of the metadata before them, a map of CBOR. */
const withoutMetadata = (digits: string): string => {
  const start = digits.length - 4 - 2 * Number(`0x${digits.slice(-4)}`);
  return start >= 0 && digits[start] === 'a' ? digits.slice(0, start) : digits;
};
