import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Lead } from '../../upstream/page.ts';
import { clientError } from '../errors.ts';
import { digestOf, type Neighbours } from './neighbours.ts';

/** What a cursor says about its item: where it was, and enough to find it again when pages have shifted. */
export type CursorPosition = {
  /** Offset of the item's page; null for the newest page. */
  readonly offset: string | null;
  /** Index of the item on its page. */
  readonly index: number;
  readonly identity: string;
  /** The item's rank, which the list descends by: see `PageItems`. */
  readonly rank: number | null;
  readonly neighbours: Neighbours;
  /** Digests of the last offsets that led to the page: they detect that upstream's pages go in circles. */
  readonly recentOffsets: readonly string[];
  /** How the pages before the item's end, if its identity depends on it: see `PageItems`. */
  readonly lead: Lead | null;
};

/** Writes and reads the cursors of one list under one set of filters. They are invalid on any other list. */
export type ListCursors = {
  write(position: CursorPosition): string;
  /**
   * Throws INVALID_CURSOR for a cursor that it did not write, so a client can't forge one and make the gateway search for
   * it.
   */
  read(cursor: string): CursorPosition;
};

/** `list` names the list in a fixed order: its kind, its owner, each filter in its canonical form. */
export type CursorsOf = (list: readonly unknown[]) => ListCursors;

/** Enough for two offsets of the maximum length, an identity and the digests. */
const MAX_CURSOR_LENGTH = 16_384;
const SIGNATURE_BYTES = 12;
/** Twelve bytes are sixteen characters of base64url without a remainder, so the content's characters follow them. */
const SIGNATURE_CHARACTERS = 16;

/**
 * Cursors are signed with `secret`. Gateways that share it accept each other's cursors.
 *
 * A cursor is base64url of its signature and its content, which is JSON. The signature is the beginning of SHA-256(key +
 * list + content), which takes a fourth of the time of an HMAC. The key has a fixed length and the list is JSON, so each
 * text has one reading. The hash is truncated, so the content can't be extended.
 */
export const createCursors = (secret: string): CursorsOf => {
  const key = createHmac('sha256', secret).update('cursors').digest();
  const prefix = key.toString('base64url');
  return (list) => {
    let signed: string | null = null;
    const sign = (content: string): string => {
      signed ??= prefix + JSON.stringify([4, ...list]);
      return signatureOf(hash('sha256', signed + content, 'base64url'));
    };
    return {
      write({ offset, index, identity, rank, neighbours, recentOffsets, lead }) {
        const position = [offset, index, identity, rank, packed(neighbours), recentOffsets];
        const content = JSON.stringify(lead === null ? position : [...position, packedLead(lead)]);
        return sign(content) + Buffer.from(content).toString('base64url');
      },
      read(cursor) {
        const bytes = Buffer.from(cursor.slice(0, MAX_CURSOR_LENGTH), 'base64url');
        const signature = cursor.slice(0, SIGNATURE_CHARACTERS);
        const content = bytes.subarray(SIGNATURE_BYTES).toString();
        // Decoding skips characters that are not base64url, so only a round trip shows that there were none.
        const isOurs =
          bytes.toString('base64url') === cursor &&
          bytes.length > SIGNATURE_BYTES &&
          (isEqual(signature, sign(content)) ||
            EARLIER_SIGNATURES.some((signAsBefore) => isEqual(signature, signAsBefore(key, list, content))));
        if (!isOurs)
          throw clientError(
            'INVALID_CURSOR',
            'Expected a cursor of this connection under these filters, got something else.',
          );
        const [offset, index, identity, rank, around, recentOffsets, behind] = JSON.parse(content);
        const lead = behind === undefined ? null : unpackedLead(behind);
        return { offset, index, identity, rank, neighbours: unpacked(around, rank), recentOffsets, lead };
      },
    };
  };
};

const signatureOf = (digest: string): string => digest.slice(0, SIGNATURE_CHARACTERS);

/** The signatures of earlier releases, whose cursors clients still hold, the newest first. */
const EARLIER_SIGNATURES: readonly ((key: Buffer, list: readonly unknown[], content: string) => string)[] = [
  (key, list, content) => {
    const listKey = createHmac('sha256', key)
      .update(JSON.stringify([3, ...list]))
      .digest('base64url');
    return signatureOf(hash('sha256', listKey + content, 'base64url'));
  },
  (key, list, content) =>
    signatureOf(
      createHmac('sha256', key)
        .update(JSON.stringify([2, ...list]))
        .update(content)
        .digest('base64url'),
    ),
];

type Packed =
  | readonly [
      before: readonly string[],
      after: readonly string[],
      returned: readonly string[],
      nextOffset: string | null,
      isWhole?: 0 | 1,
    ]
  /** Of an item that is the first of its time. */
  | typeof FIRST;

const FIRST = 1;

/** Cursors of earlier releases name the next item of the page, or the offset of the next page; nothing in lists by time. */
type Earlier = { readonly identity?: string; readonly offset?: string } | null;

const packed = ({ before, after, returned, nextOffset, ofTime }: Neighbours): Packed => {
  if (ofTime === null) return [before, after, returned, nextOffset];
  if (ofTime === 'whole' && before.length === 0 && returned.length === 0) return FIRST;
  return [before, after, returned, nextOffset, ofTime === 'whole' ? 1 : 0];
};

const unpacked = (around: Packed | Earlier, rank: number | null): Neighbours => {
  if (around === FIRST) return { ...NOTHING, ofTime: 'whole' };
  if (isPacked(around)) {
    const [before, after, returned, nextOffset, isWhole] = around;
    const ofTime = isWhole === undefined ? null : isWhole === 1 ? 'whole' : 'part';
    return { before, after, returned, nextOffset, ofTime };
  }
  if (around === null && rank !== null) return { ...NOTHING, ofTime: 'part' };
  const after = around?.identity === undefined ? [] : [digestOf(around.identity)];
  return { ...NOTHING, after, nextOffset: around?.offset ?? null };
};

const NOTHING: Neighbours = { before: [], after: [], returned: [], nextOffset: null, ofTime: null };

type PackedLead = readonly [group: string, counts: readonly (readonly [digest: string, count: number])[]];

/** Each identity is that of its group with a digest. */
const packedLead = ({ group, counts }: Lead): PackedLead => [
  group,
  [...counts].map(([identity, count]) => [identity.slice(group.length + 1), count]),
];

const unpackedLead = ([group, counts]: PackedLead): Lead => ({
  group,
  counts: new Map(counts.map(([digest, count]) => [`${group}:${digest}`, count])),
});

const isPacked = (around: Packed | Earlier): around is Exclude<Packed, typeof FIRST> => Array.isArray(around);

/** Compares two signatures in constant time. */
const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one), Buffer.from(other));
