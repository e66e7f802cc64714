import { createHmac, timingSafeEqual } from 'node:crypto';
import { clientError } from '../errors.ts';
import type { Position } from './position.ts';

/** The cursors of one list under one set of filters; they have no meaning on any other. */
export type ListCursors = {
  write(position: Position): string;
  /** Throws INVALID_CURSOR for what it did not write: nobody can make a cursor up and have it searched for. */
  read(cursor: string): Position;
};

/** `list` in a fixed order: the kind of list, the wallet, each filter in its canonical form. */
export type CursorsOf = (list: readonly (string | boolean | null)[]) => ListCursors;

const VERSION = 2;
/** Room for two offsets of the largest size that is taken, an identity and a trail. */
const MAX_CURSOR_LENGTH = 16_384;
const SIGNATURE_BYTES = 12;

/** Whose cursors they are, `secret` says: gateways that share it take up one another's. */
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
        // Decoding skips what is not base64url: only a round trip shows that every character counted.
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
