import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Position } from '../chain/transaction-store.ts';
import { CHAINS, type SandboxChain } from '../chains.ts';
import { parseAddress } from '../evm/random.ts';
import { json, type Route, type SandboxRequest, type SandboxResponse, text } from '../http/http.ts';
import type { Hex } from '../types.ts';

type Lookup = {
  /** The path before the wallet's address, with its last slash. */
  readonly prefix: string;
  /** The member of the error body that holds the message. */
  readonly errorMember: 'error' | 'message';
  /** @throws MalformedQuery, RejectedQuery */
  readonly answer: (wallet: Hex, request: SandboxRequest) => SandboxResponse;
};

/** The route of a lookup by wallet address. */
export const lookupRoute =
  ({ prefix, errorMember, answer }: Lookup): Route =>
  (request) => {
    const address = request.path.startsWith(prefix) ? request.path.slice(prefix.length) : '';
    if (address === '' || address.includes('/')) return null;
    if (request.method !== 'GET') return { ...text(405, 'Method not allowed'), headers: { allow: 'GET' } };
    try {
      const wallet = parseAddress(address);
      if (wallet === null) throw new RejectedQuery('Invalid address: expected 0x and 40 hexadecimal digits');
      return answer(wallet, request);
    } catch (problem) {
      if (problem instanceof MalformedQuery) return text(400, problem.message);
      if (problem instanceof RejectedQuery) return json(400, { [errorMember]: problem.message });
      throw problem;
    }
  };

/** ISO 8601 in UTC, from milliseconds since 1970. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

const TAG_BYTES = 24;
const CURSOR = /^[A-Za-z0-9_-]{54}$/;

/** The list that a cursor belongs to. The cursor has no effect on any other list. */
export type Scope = readonly (string | number | boolean)[];

/**
 * Opaque offsets: a position in an order, and a tag that authenticates it. An offset names a position and not a count,
 * so new items at the head shift nothing.
 */
export class Cursors {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  issue(scope: Scope, { time, order }: Position): string {
    const place = Buffer.alloc(16);
    place.writeBigInt64LE(BigInt(time), 0);
    place.writeBigInt64LE(BigInt(order), 8);
    return Buffer.concat([place, this.#tag(scope, place)]).toString('base64url');
  }

  /** The position in an offset; null when the offset was not issued for this scope, and so has no effect. */
  read(scope: Scope, offset: string | null): Position | null {
    if (offset === null || !CURSOR.test(offset)) return null;
    const bytes = Buffer.from(offset, 'base64url');
    const place = bytes.subarray(0, 16);
    if (!timingSafeEqual(bytes.subarray(16), this.#tag(scope, place))) return null;
    return { time: Number(place.readBigInt64LE(0)), order: Number(place.readBigInt64LE(8)) };
  }

  #tag(scope: Scope, place: Buffer): Buffer {
    const hmac = createHmac('sha256', this.#secret).update(JSON.stringify(scope)).update(place);
    return hmac.digest().subarray(0, TAG_BYTES);
  }
}

/** A malformed query parameter. The message is sent to the client. */
class MalformedQuery extends Error {}

/** A well-formed request that can not be served. Each lookup puts the message into its own error body. */
class RejectedQuery extends Error {}

/** The parameter's value; null when it is absent. A parameter given twice is ambiguous, so it is refused. */
const single = (query: URLSearchParams, name: string): string | null => {
  const [value, ...others] = query.getAll(name);
  if (others.length > 0)
    throw new MalformedQuery(`Failed to deserialize query string: duplicate field \`${name}\``);
  return value ?? null;
};

export const flag = (query: URLSearchParams, name: string, otherwise: boolean): boolean => {
  const value = single(query, name);
  if (value === null) return otherwise;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new MalformedQuery(
    `Failed to deserialize query string: ${name}: provided string was not \`true\` or \`false\``,
  );
};

/** Reads the page size. Larger limits are reduced to `greatest`; anything but an integer from 1 is refused. */
export const limit = (query: URLSearchParams, otherwise: number, greatest: number): number => {
  const value = single(query, 'limit');
  if (value === null) return otherwise;
  if (!/^\d+$/.test(value) || Number(value) < 1) {
    throw new MalformedQuery(
      `Failed to deserialize query string: limit: expected a whole number from 1 to ${greatest}`,
    );
  }
  return Math.min(Number(value), greatest);
};

export const offset = (query: URLSearchParams): string | null => single(query, 'offset');

/** The chains of a request, each once, and the requested ids that the service does not support. */
export type ChainChoice = {
  readonly chains: readonly SandboxChain[];
  readonly unsupported: readonly number[];
};

/**
 * Reads the chain filter: numeric ids and tags, separated by commas. Default: the default tag.
 * @throws RejectedQuery for anything else, the names of chains included.
 */
export const chainChoice = (query: URLSearchParams): ChainChoice => {
  const items = (single(query, 'chain_ids') ?? 'default').split(',').map((item) => item.trim());
  const chains = new Set<SandboxChain>();
  const unsupported = new Set<number>();
  for (const item of items) {
    const found = chainsBy(item);
    for (const chain of found) chains.add(chain);
    if (found.length === 0) unsupported.add(Number(item));
  }
  return { chains: [...chains], unsupported: [...unsupported] };
};

/** The chains of one id or tag; empty for an id that the service does not support. */
const chainsBy = (item: string): readonly SandboxChain[] => {
  if (/^\d+$/.test(item) && Number.isSafeInteger(Number(item)))
    return CHAINS.filter((chain) => chain.id === Number(item));
  const tagged = CHAINS.filter((chain) => chain.tags.includes(item));
  if (tagged.length > 0) return tagged;
  throw new RejectedQuery(
    `Invalid chain_ids: expected numeric chain ids or tags, got '${item.slice(0, 80)}'`,
  );
};
