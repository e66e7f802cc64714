import { createHmac, timingSafeEqual } from 'node:crypto';

const TAG_BYTES = 24;

/** The list that an offset belongs to. The offset has no effect on any other list. */
export type Scope = readonly (string | number | boolean | null)[];

/** A place in a list's order. */
export type Place = readonly (string | number)[];

/**
 * Opaque offsets: a place in an order, and a tag that authenticates it. An offset names a place and not a count, so new
 * items before it shift nothing.
 */
export class Cursors {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  issue(scope: Scope, place: Place): string {
    const text = Buffer.from(JSON.stringify(place));
    return Buffer.concat([this.#tag(scope, text), text]).toString('base64url');
  }

  /** The place in an offset; null when the offset was not issued for this scope, and so has no effect. */
  read(scope: Scope, offset: string | null): Place | null {
    if (offset === null || !/^[\w-]{34,500}$/.test(offset)) return null;
    const bytes = Buffer.from(offset, 'base64url');
    const text = bytes.subarray(TAG_BYTES);
    const tag = this.#tag(scope, text);
    const isIssued =
      bytes.toString('base64url') === offset && timingSafeEqual(bytes.subarray(0, TAG_BYTES), tag);
    return isIssued ? JSON.parse(text.toString()) : null;
  }

  #tag(scope: Scope, text: Buffer): Buffer {
    const hmac = createHmac('sha256', this.#secret).update(JSON.stringify(scope)).update(text);
    return hmac.digest().subarray(0, TAG_BYTES);
  }
}

/** How faults bend the pages of a list. */
export type Bent = {
  /** By how many items the page begins later (or, below 0, earlier) than its offset says. */
  readonly shift: number;
  /** By how many items the page is shorter than its limit. It has at least one. */
  readonly short: number;
};

/** The page of an ordered list after a place, and the place of the next one; null on the last page. */
export const pageOf = <Item>(
  ordered: readonly Item[],
  {
    after,
    limit,
    bent,
  }: { readonly after: (item: Item) => boolean; readonly limit: number; readonly bent: Bent },
): { readonly page: readonly Item[]; readonly last: Item | null } => {
  const found = ordered.findIndex(after);
  const first = found < 0 ? ordered.length : found;
  const start = first === 0 ? 0 : Math.min(Math.max(first + bent.shift, 0), ordered.length);
  const page = ordered.slice(start, start + Math.max(1, limit - bent.short));
  return { page, last: start + page.length < ordered.length ? (page.at(-1) ?? null) : null };
};
