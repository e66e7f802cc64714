import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Lead, Page, PageItems } from '../../upstream/page.ts';
import { clientError } from '../errors.ts';

/** What a cursor says about its item: where it was, and enough to find it again when pages have shifted. */
export type CursorPosition = {
  /** Offset of the item's page; null for the newest page. */
  readonly offset: string | null;
  /** Index of the item on its page. */
  readonly index: number;
  readonly identity: string;
  /** The item's rank, which the list descends by: see `PageItems`. */
  readonly rank: number | null;
  /** Null in a list that is ordered by time, whose items stay in place. */
  readonly neighbours: Neighbours | null;
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
        const neighbours = rank === null || around !== null ? unpacked(around) : null;
        const lead = behind === undefined ? null : unpackedLead(behind);
        return { offset, index, identity, rank, neighbours, recentOffsets, lead };
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

type Packed = readonly [
  before: readonly string[],
  after: readonly string[],
  returned: readonly string[],
  nextOffset: string | null,
];

/** Cursors of earlier releases name the next item of the page, or the offset of the next page. */
type Earlier = { readonly identity?: string; readonly offset?: string } | null;

const packed = (neighbours: Neighbours | null): Packed | null =>
  neighbours && [neighbours.before, neighbours.after, neighbours.returned, neighbours.nextOffset];

const unpacked = (around: Packed | Earlier): Neighbours => {
  if (isPacked(around)) {
    const [before, after, returned, nextOffset] = around;
    return { before, after, returned, nextOffset };
  }
  const after = around?.identity === undefined ? [] : [digestOf(around.identity)];
  return { before: [], after, returned: [], nextOffset: around?.offset ?? null };
};

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

const isPacked = (around: Packed | Earlier): around is Packed => Array.isArray(around);

/** Compares two signatures in constant time. */
const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one), Buffer.from(other));

/**
 * What a cursor remembers of the items around its own, in a list whose items may move both ways. They show where the walk
 * continues if its own item has moved or is gone. Each item is a digest of its identity.
 */
export type Neighbours = {
  /** The items right before it on its page, in the order of the list; at most NEIGHBOURS. */
  readonly before: readonly string[];
  /** The items right after it. */
  readonly after: readonly string[];
  /** Items that the walk has returned and that may come again; at most MAX_RETURNED. */
  readonly returned: readonly string[];
  /** Behind the last item of a page, the offset of the next one; otherwise null. */
  readonly nextOffset: string | null;
};

/** With two on either side, two items may move or disappear at once: more of the five stay than move. */
const NEIGHBOURS = 2;

/** Every cursor behind them carries them until their pages have passed. Few items cross from one page to the next. */
const MAX_RETURNED = 64;

const DIGEST_CHARACTERS = 8;

/**
 * What a walk returned before it came to a page: the items at `indexes` on that page, and elsewhere those with `digests`.
 */
export type Returned = { readonly indexes: readonly number[]; readonly digests: readonly string[] };

export const neighboursOf = (
  { items, nextOffset }: Pick<Page<unknown>, 'items' | 'nextOffset'>,
  index: number,
  { indexes, digests: elsewhere }: Returned,
): Neighbours => ({
  before: digests(items, Math.max(0, index - NEIGHBOURS), index),
  after: digests(items, index + 1, Math.min(items.length, index + 1 + NEIGHBOURS)),
  returned: [
    ...indexes.filter((each) => each > index).map((each) => digestAt(items, each)),
    ...elsewhere,
  ].slice(0, MAX_RETURNED),
  nextOffset: index + 1 < items.length ? null : nextOffset,
});

/** A walk continues at `index`. `agreement` is the number of remembered items on the proper side of it. */
export type Place = { readonly index: number; readonly agreement: number };

/** Whether the page has the item of a cursor and its neighbours where they were. */
export const isUnchanged = (
  items: PageItems<unknown>,
  index: number,
  identity: string,
  { before, after }: Neighbours,
): boolean =>
  index < items.length &&
  items.identity(index) === identity &&
  before.every(
    (each, place) => index >= before.length && digestAt(items, index - before.length + place) === each,
  ) &&
  after.every(
    (each, place) => index + 1 + place < items.length && digestAt(items, index + 1 + place) === each,
  );

/**
 * Returns the place after an item that most of the remembered ones agree on, the first of several; null if there is none.
 */
export const findPlace = (
  items: PageItems<unknown>,
  identity: string,
  { before, after }: Neighbours,
): Place | null => {
  const indexes = new Map<string, number>();
  for (let index = items.length - 1; index >= 0; index -= 1) indexes.set(digestAt(items, index), index);
  const indexesOf = (remembered: readonly string[]): number[] =>
    remembered.flatMap((each) => indexes.get(each) ?? []);
  const passed = indexesOf([...before, digestOf(identity)]);
  const ahead = indexesOf(after);
  let best: Place | null = null;
  for (const index of [...passed.map((each) => each + 1), ...ahead].toSorted((one, other) => one - other)) {
    const agreement =
      passed.filter((each) => each < index).length + ahead.filter((each) => each >= index).length;
    if (best === null || agreement > best.agreement) best = { index, agreement };
  }
  return best;
};

const digests = (items: PageItems<unknown>, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, offset) => digestAt(items, from + offset));

/** Each item is a neighbour of several others. */
const digestsOfPages = new WeakMap<PageItems<unknown>, string[]>();

const digestAt = (items: PageItems<unknown>, index: number): string => {
  const known = digestsOfPages.get(items) ?? [];
  if (known.length === 0) digestsOfPages.set(items, known);
  known[index] ??= digestOf(items.identity(index));
  return known[index];
};

export const digestOf = (identity: string): string =>
  hash('sha256', identity, 'base64url').slice(0, DIGEST_CHARACTERS);
