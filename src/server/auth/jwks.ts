import { createSecretKey } from 'node:crypto';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { type Clock, monotonicClock } from '../../lib/deadlines.ts';
import { JsonSize } from '../../lib/json/size.ts';

/** The keys that verify tokens. The algorithms are all symmetric or all asymmetric, so that no public key serves as a secret. */
export type TokenKeys = { readonly algorithms: readonly string[]; readonly getKey: JWTVerifyGetKey };

export const hmacKeys = (secret: string): TokenKeys => {
  const key = createSecretKey(secret, 'utf8');
  return { algorithms: ['HS256', 'HS384', 'HS512'], getKey: () => key };
};

const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** No key set is available, and none can be fetched. The token is not at fault. */
export class KeysUnavailableError extends Error {
  constructor(cause: unknown) {
    super('the JWKS is unavailable', { cause });
    this.name = 'KeysUnavailableError';
  }
}

const FETCH_TIMEOUT_MS = 5000;
/** The minimum time between fetches for tokens that name an unknown key. */
const COOLDOWN_MS = 5000;
/** The minimum time between any two fetches, even from a server that fails. */
const FETCH_COOLDOWN_MS = 1000;

type Options = {
  /** Stale-while-revalidate: an older set is fetched again while it still verifies tokens. Default: 5 minutes. */
  readonly refreshMs?: number;
  /** Stale-if-error: how old a set may be when its server fails. A withdrawn key is accepted until then. Default: an hour. */
  readonly maxMs?: number;
  readonly now?: Clock;
};

/**
 * The public keys that a server publishes as a JWKS (RFC 7517). `getKey` rejects with KeysUnavailableError when they
 * can't be fetched, and with jose's errors when none is the token's. `onFailure` is called once for each failed fetch.
 */
export const jwksKeys = (
  url: string,
  onFailure: (error: unknown) => void,
  { refreshMs = 300_000, maxMs = 3_600_000, now = monotonicClock }: Options = {},
): TokenKeys => {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: maxMs,
    async [customFetch](address, options) {
      if (now() - fetchedAt < FETCH_COOLDOWN_MS) throw new CooldownError();
      fetchedAt = now();
      return boundedKeySet(await fetch(address, options));
    },
  });
  let lastFailure: unknown;
  /** All tokens that wait for one fetch reject with one error, which is reported once. */
  const report = (error: unknown): void => {
    if (error instanceof CooldownError || error === lastFailure) return;
    lastFailure = error;
    onFailure(error);
  };
  const getKey: JWTVerifyGetKey = async (header, token) => {
    if (keys.fresh && now() - fetchedAt > refreshMs) keys.reload().catch(report);
    try {
      return await keys(header, token);
    } catch (error) {
      if (isAboutToken(error)) throw error;
      report(error);
      throw new KeysUnavailableError(error);
    }
  };
  return { algorithms: ASYMMETRIC, getKey };
};

/** A hundred keys with their certificate chains are smaller. */
const MAX_BYTES = 1024 * 1024;
const MAX_KEYS = 100;
/** A hundred keys have about two thousand values. */
const MAX_VALUES = 10_000;

/** Reads the whole response. Rejects when the body has too many bytes to store, too many values to parse, or too many keys to try. */
const boundedKeySet = async (response: Response): Promise<Response> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new RangeError(`expected a JWKS of at most ${MAX_BYTES} bytes, got more`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const { values } = new JsonSize().add(body);
  if (values > MAX_VALUES)
    throw new RangeError(`expected a JWKS of at most ${MAX_VALUES} JSON values, got ${values}`);
  const count = response.ok ? keysIn(body) : 0;
  if (count > MAX_KEYS) throw new RangeError(`expected a JWKS of at most ${MAX_KEYS} keys, got ${count}`);
  return new Response(body, { status: response.status });
};

/** Returns 0 for a body that is not a JWKS: jose reports that. */
const keysIn = (body: Buffer): number => {
  try {
    const { keys } = JSON.parse(String(body));
    return Array.isArray(keys) ? keys.length : 0;
  } catch {
    return 0;
  }
};

/** A fetch was made less than FETCH_COOLDOWN_MS ago. */
class CooldownError extends Error {}

const isAboutToken = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported;
