import { createHmac } from 'node:crypto';
import type { Caller } from '../context.ts';
import { clientError } from '../graph/errors.ts';

/** What a client sends by name: HTTP headers, or a WebSocket's connectionParams. */
export type Credentials = { get(name: string): string | null };

/** With whom a tenant shares kept pages: with all when they have one key, the gateway's, and else with nobody. */
export const scopeOf = (mode: 'open' | 'key', tenant: string): string => (mode === 'key' ? tenant : 'shared');

/** `address` is the network address that the client came from, where it came from one. */
export type Authenticate = (credentials: Credentials, address?: string) => Caller;

type AuthOptions = {
  readonly mode: 'open' | 'key';
  /** The key that the gateway holds; never null when the mode is `open`. */
  readonly gatewayKey: string | null;
  readonly keyHeader: string;
  /** Makes tenants of keys, so that no key is kept or told. */
  readonly secret: string;
};

/**
 * `open`: everyone acts with the gateway's key, as one tenant. `key`: each client brings its own; who brings none gets
 * UNAUTHENTICATED.
 */
export const createAuthenticate = ({ mode, gatewayKey, keyHeader, secret }: AuthOptions): Authenticate => {
  if (mode === 'open') {
    if (gatewayKey === null) throw new TypeError('AUTH=open needs a key of the gateway, got none');
    const everyone: Omit<Caller, 'payer'> = {
      credential: { key: gatewayKey, heldBy: 'gateway' },
      tenant: 'default',
      scope: scopeOf(mode, 'default'),
      expiresAt: null,
    };
    return (_credentials, address = 'unknown') => ({ ...everyone, payer: canonicalAddress(address) });
  }
  return (credentials) => {
    const key = credentials.get(keyHeader);
    if (key === null || !/^[\x21-\x7e]{1,4096}$/.test(key))
      throw clientError('UNAUTHENTICATED', `Expected your key of the service in ${keyHeader}, got none.`);
    const fingerprint = createHmac('sha256', secret).update(`key:${key}`).digest('base64url').slice(0, 22);
    return {
      credential: { key, heldBy: 'client' },
      tenant: fingerprint,
      scope: scopeOf(mode, fingerprint),
      payer: fingerprint,
      expiresAt: null,
    };
  };
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
