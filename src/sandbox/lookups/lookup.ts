import { parseAddress } from '../evm/address.ts';
import type { Route, SandboxRequest, SandboxResponse } from '../http/route.ts';
import { json, text } from '../http/route.ts';
import type { Hex } from '../types.ts';
import { MalformedQuery, RejectedQuery } from './query.ts';

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
