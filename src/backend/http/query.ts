import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseAddress } from '../evm/address.ts';
import type { Place } from '../source.ts';
import type { Chain, ChainLookup, Hex } from '../types.ts';

/** A malformed query parameter, which is answered in plain text before the lookup begins. */
export class MalformedQuery extends Error {}

/** A well-formed request that can not be served. Each lookup puts the message into its own kind of body. */
export class Refused extends Error {
  /** 400 where the same request will be refused again, whenever it is sent. */
  readonly status: 400 | 404 | 503;
  /** Seconds until a client may ask again; null where it may do so at once. */
  readonly retryAfter: number | null;

  constructor(status: Refused['status'], message: string, retryAfter: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const malformed = (problem: string) => new MalformedQuery(`Failed to deserialize query string: ${problem}`);

/** The parameter's value; null when it is absent. A parameter given twice is ambiguous, so it is refused. */
export const single = (query: URLSearchParams, name: string): string | null => {
  const [value, ...others] = query.getAll(name);
  if (others.length > 0) throw malformed(`duplicate field \`${name}\``);
  return value ?? null;
};

/** The parts of a list; null when it is absent or empty. */
export const list = (query: URLSearchParams, name: string): readonly string[] | null =>
  single(query, name)
    ?.split(',')
    .map((item) => item.trim()) ?? null;

/** A list of words out of a closed set. */
export const words = <Word extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly Word[],
): readonly Word[] | null =>
  list(query, name)?.map((item) => {
    const word = known.find((each) => each === item);
    if (word === undefined)
      throw new Refused(400, `Invalid ${name}: expected ${known.join(', ')}, got '${item.slice(0, 80)}'`);
    return word;
  }) ?? null;

export const flag = (query: URLSearchParams, name: string, otherwise: boolean): boolean => {
  const value = single(query, name);
  if (value === null) return otherwise;
  if (value === 'true' || value === 'false') return value === 'true';
  throw malformed(`${name}: provided string was not \`true\` or \`false\``);
};

/** A flag that is off by default, and that older clients switch on by its bare name. */
export const bareFlag = (query: URLSearchParams, name: string): boolean =>
  single(query, name) === '' || flag(query, name, false);

/** Reads the page size. Larger limits are reduced to `greatest`; anything but an integer from 1 is refused. */
export const limit = (query: URLSearchParams, otherwise: number, greatest: number): number => {
  const value = single(query, 'limit');
  if (value === null) return otherwise;
  if (!/^\d+$/.test(value) || Number(value) < 1)
    throw malformed(`limit: expected a whole number from 1 to ${greatest}`);
  return Math.min(Number(value), greatest);
};

/** A wallet's or a contract's address in a path. */
export const address = (text: string | undefined, refusal: string): Hex => {
  const parsed = parseAddress(text ?? '');
  if (parsed === null) throw new Refused(400, refusal);
  return parsed;
};

/** A token in a path: null for `native`, the chain's native asset. */
export const asset = (text: string | undefined, refusal: string): Hex | null =>
  text === 'native' ? null : address(text, refusal);

const MAX_HOURS = 3;

/** The hours ago of which prices are asked for, in the order of the request; null when none are. */
export const hoursAgo = (query: URLSearchParams): readonly number[] | null => {
  const items = list(query, 'historical_prices');
  if (items === null) return null;
  if (items.length > MAX_HOURS || items.some((item) => !/^[1-9]\d{0,6}$/.test(item))) {
    throw new Refused(
      400,
      `Invalid historical_prices: expected 1 to ${MAX_HOURS} whole hours of at least 1, got '${items.join(',').slice(0, 80)}'`,
    );
  }
  return items.map(Number);
};

/** The chains of a request that a lookup covers, each once, and the ids that it does not cover. */
export type ChainChoice = { readonly chains: readonly Chain[]; readonly unsupported: readonly number[] };

/**
 * Reads the chain filter: numeric ids and tags, separated by commas. Chains that a tag brings and that the lookup does
 * not cover are left out silently, requested ids are named. So are those of a tag of which it covers none: nothing was looked at.
 */
export const chainChoice = (
  query: URLSearchParams,
  all: readonly Chain[],
  lookup: ChainLookup | null,
  otherwise: 'default' | 'all' = 'default',
): ChainChoice => {
  const covered = all.filter(({ unsupported }) => lookup === null || !unsupported.includes(lookup));
  const items = list(query, 'chain_ids');
  if (items === null && otherwise === 'all') return { chains: covered, unsupported: [] };
  const chains = new Set<Chain>();
  const unsupported = new Set<number>();
  for (const item of items ?? ['default']) {
    const isId = /^\d+$/.test(item) && Number.isSafeInteger(Number(item));
    if (!isId && idsTagged(all, item).length === 0)
      throw new Refused(
        400,
        `Invalid chain_ids: expected numeric chain ids or tags, got '${item.slice(0, 80)}'`,
      );
    const found = covered.filter(({ id, tags }) => (isId ? id === Number(item) : tags.includes(item)));
    for (const chain of found) chains.add(chain);
    if (found.length > 0) continue;
    for (const id of isId ? [Number(item)] : idsTagged(all, item)) unsupported.add(id);
  }
  return { chains: [...chains], unsupported: [...unsupported] };
};

const idsTagged = (chains: readonly Chain[], tag: string): readonly number[] =>
  chains.filter(({ tags }) => tags.includes(tag)).map(({ id }) => id);

/** Reads a chain filter of exactly one chain, by its id. */
export const oneChain = (query: URLSearchParams, all: readonly Chain[], lookup: ChainLookup): ChainChoice => {
  const items = list(query, 'chain_ids') ?? [];
  const choice = items.some((item) => !/^\d+$/.test(item)) ? null : chainChoice(query, all, lookup);
  if (items.length === 0 || choice === null || choice.chains.length + choice.unsupported.length !== 1)
    throw new Refused(400, 'Invalid chain_ids: expected exactly one chain id');
  return choice;
};

const TAG_BYTES = 24;

/** Whether a place comes after another one in a list. */
export const isBehind = (place: Place, other: Place): boolean => {
  const at = place.findIndex((member, index) => member !== other[index]);
  return at >= 0 && (place[at] ?? 0) < (other[at] ?? 0);
};

/** The list that an offset belongs to. The offset has no effect on any other list. */
export type Scope = readonly (string | number | boolean | null)[];

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
    if (offset === null || !/^[\w-]{34,4000}$/.test(offset)) return null;
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

/** The page of a list from its item `first` on, and its last item where more follow; null on the last page. */
export const pageOf = <Item>(
  ordered: readonly Item[],
  { first, limit, bent }: { readonly first: number; readonly limit: number; readonly bent: Bent },
): { readonly page: readonly Item[]; readonly last: Item | null } => {
  const start = first === 0 ? 0 : Math.min(Math.max(first + bent.shift, 0), ordered.length);
  const page = ordered.slice(start, start + Math.max(1, limit - bent.short));
  return { page, last: start + page.length < ordered.length ? (page.at(-1) ?? null) : null };
};
