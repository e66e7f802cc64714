import { createHmac } from 'node:crypto';
import type { Caller } from '../../context.ts';
import { ALL_SCOPES } from '../../scopes.ts';
import type { Credential } from '../../upstream/client/request-scope.ts';
import { keyMalformed, keyMissing, schemeRefused, tokenMissing } from './auth-errors.ts';
import type { VerifyToken } from './tokens.ts';

/** What a client sends by name: HTTP headers, or a WebSocket's connectionParams. */
export type Credentials = { get(name: string): string | null };

type Mode = 'open' | 'key' | 'jwt';

/** With whom a tenant shares kept pages: with all when they have one key, the gateway's, and else with nobody. */
export const cachePartitionOf = (mode: Mode, tenant: string): string => (mode === 'key' ? tenant : 'shared');

/**
 * Rejects with UNAUTHENTICATED; with INTERNAL_SERVER_ERROR when it can't be told who it is. `address` is the network
 * address that the client came from, where it came from one. The credentials are read before anything is waited for.
 */
export type Authenticate = (credentials: Credentials, address?: string) => Promise<Caller>;

/** `open`: everyone acts with the gateway's key, as one tenant; an address is a payer. */
export const authenticateAnyone = (gatewayKey: string): Authenticate => {
  const everyone: Omit<Caller, 'billingKey'> = {
    credential: { key: gatewayKey, owner: 'gateway' },
    tenant: 'default',
    cachePartition: cachePartitionOf('open', 'default'),
    scopes: ALL_SCOPES,
    expiresAt: null,
  };
  return async (_credentials, address = 'unknown') => ({
    ...everyone,
    billingKey: canonicalAddress(address),
  });
};

/** `key`: each client brings its own in `keyHeader`. `secret` makes tenants of keys, so that no key is kept or told. */
export const authenticateByKey =
  (keyHeader: string, secret: string): Authenticate =>
  async (credentials) => {
    const key = credentials.get(keyHeader);
    if (key === null || key === '') throw keyMissing(keyHeader);
    if (!/^[\x21-\x7e]{1,4096}$/.test(key)) throw keyMalformed(keyHeader);
    const fingerprint = createHmac('sha256', secret).update(`key:${key}`).digest('base64url').slice(0, 22);
    return {
      credential: { key, owner: 'client' },
      tenant: fingerprint,
      cachePartition: cachePartitionOf('key', fingerprint),
      billingKey: fingerprint,
      scopes: ALL_SCOPES,
      expiresAt: null,
    };
  };

/** `jwt`: a token says who it is and what it may use; all act with the gateway's key. */
export const authenticateByToken = (gatewayKey: string, verify: VerifyToken): Authenticate => {
  const credential: Credential = { key: gatewayKey, owner: 'gateway' };
  return async (credentials) => {
    const bearer = await verify(tokenIn(credentials.get('authorization')));
    return { ...bearer, credential, cachePartition: cachePartitionOf('jwt', bearer.tenant) };
  };
};

/** Throws UNAUTHENTICATED, which says what is wrong with the credential and nothing of it. */
const tokenIn = (authorization: string | null): string => {
  if (authorization === null || authorization.trim() === '') throw tokenMissing();
  const [scheme = '', token, ...more] = authorization.trim().split(/ +/);
  if (scheme.toLowerCase() !== 'bearer') throw schemeRefused('one without Bearer before it');
  if (token === undefined) throw schemeRefused('Bearer without a token');
  if (more.length > 0) throw schemeRefused('more than one word after Bearer');
  return token;
};

/** One name for an IPv4 address, whichever family the socket is of; of an IPv6 address the /64, which is one client's. */
const canonicalAddress = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head.split(':');
  const missing = 8 - groups.length - (tail ? tail.split(':').length : 0);
  return [...groups, ...Array(tail === undefined ? 0 : missing).fill('0')].slice(0, 4).join(':');
};

/** A WebSocket's connectionParams as credentials; names in any letter case, as headers have them. */
export const credentialsIn = (
  connectionParams: Readonly<Record<string, unknown>> | undefined,
): Credentials => {
  const lowered = new Map(
    Object.entries(connectionParams ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    get(name) {
      const value = lowered.get(name.toLowerCase());
      return typeof value === 'string' ? value : null;
    },
  };
};
