import { createHmac, timingSafeEqual } from 'node:crypto';
import { clientError } from '../errors.ts';

/** What a cursor says of its item: where the item was, and enough to find it again when the pages have shifted. */
export type CursorPosition = {
  /** Offset of the item's page; null for the newest page. */
  readonly offset: string | null;
  /** Index of the item on its page. */
  readonly index: number;
  readonly identity: string;
  /** Milliseconds since 1970; null in a list that is not ordered by time. */
  readonly time: number | null;
  /** The item's successor in a list that is not ordered by time; null for the last item. */
  readonly next: NextItem | null;
  /** Digests of the last offsets that led to the page: they detect that upstream's pages go in circles. */
  readonly recentOffsets: readonly string[];
};

/** The next item of the same page, or the offset of the next page. */
export type NextItem = { readonly identity: string } | { readonly offset: string };

/** Writes and reads the cursors of one list under one set of filters. They are invalid on any other list. */
export type ListCursors = {
  write(position: CursorPosition): string;
  /** Throws INVALID_CURSOR for a cursor that it did not write: a client can't forge one and have it searched for. */
  read(cursor: string): CursorPosition;
};

/** `list` names the list in a fixed order: its kind, its owner, each filter in its canonical form. */
export type CursorsOf = (list: readonly (string | boolean | null)[]) => ListCursors;

const VERSION = 2;
/** Enough for two offsets of the maximum length, an identity and the digests. */
const MAX_CURSOR_LENGTH = 16_384;
const SIGNATURE_BYTES = 12;

/** Cursors are signed with `secret`. Gateways that share it accept each other's cursors. */
export const createCursors = (secret: string): CursorsOf => {
  const key = createHmac('sha256', secret).update('cursors').digest();
  return (list) => {
    const bound = JSON.stringify([VERSION, ...list]);
    const sign = (written: Buffer): Buffer =>
      createHmac('sha256', key).update(bound).update(written).digest().subarray(0, SIGNATURE_BYTES);
    return {
      write({ offset, index, identity, time, next, recentOffsets }) {
        const written = Buffer.from(JSON.stringify([offset, index, identity, time, next, recentOffsets]));
        return Buffer.concat([sign(written), written]).toString('base64url');
      },
      read(cursor) {
        const bytes = Buffer.from(cursor.slice(0, MAX_CURSOR_LENGTH), 'base64url');
        const written = bytes.subarray(SIGNATURE_BYTES);
        // Decoding skips characters that are not base64url: only a round trip shows that there were none.
        const isOurs =
          bytes.toString('base64url') === cursor &&
          bytes.length > SIGNATURE_BYTES &&
          timingSafeEqual(bytes.subarray(0, SIGNATURE_BYTES), sign(written));
        if (!isOurs)
          throw clientError(
            'INVALID_CURSOR',
            'Expected a cursor of this connection under these filters, got something else.',
          );
        const [offset, index, identity, time, next, recentOffsets] = JSON.parse(written.toString());
        return { offset, index, identity, time, next, recentOffsets };
      },
    };
  };
};
