import { createHmac } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import type { Caller } from '../../context.ts';
import { clientError } from '../../graph/errors.ts';
import { rememberLast } from '../../lib/memo.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
import { ALL_SCOPES, type Scope } from '../../scopes.ts';
import type { Credential } from '../../upstream/client/request.ts';

type Mode = 'open' | 'key' | 'jwt';

/**
 * Authenticates a client by its credentials, in HTTP headers or in a WebSocket's connectionParams, and by its
 * `address`: see server/http/client-address.ts. Only AUTH=open asks for the address, which takes time to find. Throws, or rejects with,
 * UNAUTHENTICATED, or with INTERNAL_SERVER_ERROR when the credentials can't be checked. It reads the credentials before it
 * waits for anything.
 */
export type Authenticate = (
  credentials: Pick<Headers, 'get'>,
  address?: () => string,
) => MaybePromise<Caller>;

/**
 * The cache partition of a tenant: tenants in one partition share cached pages. If all clients use the gateway's key, all
 * tenants share one partition; if each client has its own key, none do.
 */
export const cachePartitionOf = (mode: Mode, tenant: string): string => (mode === 'key' ? tenant : 'shared');

/** AUTH=open: every client uses the gateway's key, as one tenant. Each network address has its own budget. */
export const authenticateAnyone = (gatewayKey: string): Authenticate => {
  const everyone: Omit<Caller, 'billingKey'> = {
    credential: { key: gatewayKey, owner: 'gateway' },
    tenant: 'default',
    cachePartition: cachePartitionOf('open', 'default'),
    scopes: ALL_SCOPES,
    expiresAt: null,
  };
  const callerAt = rememberLast((address): Caller => ({ ...everyone, billingKey: ownedBy(address) }));
  return (_credentials, address = () => 'unknown') => callerAt(address());
};

/**
 * AUTH=key: each client sends its own key in `keyHeader`. The tenant is the key's HMAC under `secret`, so that no key is
 * stored or shown.
 */
export const authenticateByKey =
  (keyHeader: string, secret: string): Authenticate =>
  (credentials) => {
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

/** The bearer of a verified token, by its claims. */
export type Bearer = {
  readonly tenant: string;
  readonly billingKey: string;
  readonly scopes: ReadonlySet<Scope>;
  /** `exp` in milliseconds since 1970. */
  readonly expiresAt: number;
};

/** Verifies a token. Rejects with UNAUTHENTICATED, whose message says what was expected and quotes nothing of the token. */
export type VerifyToken = (token: string) => Promise<Bearer>;

/** AUTH=jwt: a token names the tenant and the scopes. All clients use the gateway's key. */
export const authenticateByToken = (gatewayKey: string, verify: VerifyToken): Authenticate => {
  const credential: Credential = { key: gatewayKey, owner: 'gateway' };
  return async (credentials) => {
    const bearer = await verify(tokenIn(credentials.get('authorization')));
    return { ...bearer, credential, cachePartition: cachePartitionOf('jwt', bearer.tenant) };
  };
};

/** Throws UNAUTHENTICATED, whose message says what is wrong with the credential and quotes nothing of it. */
const tokenIn = (authorization: string | null): string => {
  if (authorization === null || authorization.trim() === '') throw tokenMissing();
  const [scheme = '', token, ...more] = authorization.trim().split(/ +/);
  if (scheme.toLowerCase() !== 'bearer') throw schemeRejected('one without Bearer before it');
  if (token === undefined) throw schemeRejected('Bearer without a token');
  if (more.length > 0) throw schemeRejected('more than one word after Bearer');
  return token;
};

/** An IPv4 address unchanged; an IPv6 address cut to its /64, which one client owns. */
const ownedBy = (address: string): string => {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const missing = 8 - groups.length - (tail ? tail.split(':').length : 0);
  return [...groups, ...Array(tail === undefined ? 0 : missing).fill('0')].slice(0, 4).join(':');
};

/** A WebSocket's connectionParams. Their names match in any letter case, as names of headers do. */
export const namesInLowerCase = (
  connectionParams: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(connectionParams ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );

/** Reads a WebSocket's connectionParams as credentials. */
export const credentialsIn = (
  connectionParams: Readonly<Record<string, unknown>> | undefined,
): Pick<Headers, 'get'> => {
  const lowered = new Map(Object.entries(namesInLowerCase(connectionParams)));
  return {
    get(name) {
      const value = lowered.get(name.toLowerCase());
      return typeof value === 'string' ? value : null;
    },
  };
};

/** The longest delay of a timer, about 25 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Calls `expired` once at `expiresAt`, which is in milliseconds since 1970; never for null. The returned function cancels
 * the call.
 */
export const onExpiry = (expiresAt: number | null, expired: () => void): (() => void) => {
  if (expiresAt === null) return () => {};
  let timer: NodeJS.Timeout;
  const wait = () => {
    const left = expiresAt - Date.now();
    if (left <= 0) expired();
    else timer = setTimeout(wait, Math.min(left, MAX_TIMEOUT_MS)).unref();
  };
  timer = setTimeout(wait, 0).unref();
  return () => clearTimeout(timer);
};

/** The HTTP status, for clients that accept `application/graphql-response+json`, and headers. */
type Http = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

const unauthenticated = (message: string, http: Http): GraphQLError =>
  clientError('UNAUTHENTICATED', message, { http: { ...http, spec: true } });

/** It has no `WWW-Authenticate`: HTTP has no scheme for an API key. */
const keyMissing = (keyHeader: string): GraphQLError =>
  unauthenticated(
    `Expected your upstream API key in ${keyHeader} (over WebSocket in connectionParams, by the same name), got none.`,
    { status: 401 },
  );

const keyMalformed = (keyHeader: string): GraphQLError =>
  unauthenticated(
    `Expected a key in ${keyHeader} of 1 to 4096 printable characters without spaces, got something else.`,
    { status: 401 },
  );

const CHALLENGE = 'Bearer realm="gateway"';

/** The challenge has no error code: RFC 6750, 3.1, forbids one for a request without a token. */
const tokenMissing = (): GraphQLError =>
  unauthenticated(
    'Expected a token as `Authorization: Bearer …` (over WebSocket as connectionParams.authorization), got none.',
    { status: 401, headers: { 'www-authenticate': CHALLENGE } },
  );

/** `reason` is a sentence of plain ASCII without quotation marks, and quotes nothing of the token. */
export const tokenRejected = (reason: string): GraphQLError =>
  unauthenticated(reason, {
    status: 401,
    headers: {
      'www-authenticate': `${CHALLENGE}, error="invalid_token", error_description="${reason}"`,
    },
  });

/** `got` describes the header that has no bearer token. Its challenge has no error code, as for a missing token. */
const schemeRejected = (got: string): GraphQLError =>
  unauthenticated(
    `Expected \`Authorization: Bearer …\` with one token (over WebSocket connectionParams.authorization), got ${got}.`,
    { status: 401, headers: { 'www-authenticate': CHALLENGE } },
  );

/** It also ends an operation whose token expires while the operation runs. */
export const tokenExpired = (): GraphQLError =>
  tokenRejected('Expected a token that is still valid, got one that has expired.');

/** Not UNAUTHENTICATED: the token may be valid, so its client should retry rather than get another token. */
export const keysUnavailable = (): GraphQLError =>
  clientError('INTERNAL_SERVER_ERROR', 'The gateway cannot fetch the keys that verify tokens. Try again.', {
    http: { status: 503, headers: { 'retry-after': '1' }, spec: true },
  });
