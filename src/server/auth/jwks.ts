import { createSecretKey } from 'node:crypto';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { type Clock, monotonicClock } from '../../lib/clock.ts';
import { JsonSize } from '../../lib/json/size-scanner.ts';

/** What tokens are checked with. The algorithms are of one kind only, so that no public key can serve as a secret. */
export type TokenKeys = { readonly algorithms: readonly string[]; readonly getKey: JWTVerifyGetKey };

export const hmacKeys = (secret: string): TokenKeys => {
  const key = createSecretKey(secret, 'utf8');
  return { algorithms: ['HS256', 'HS384', 'HS512'], getKey: () => key };
};

const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** There are no keys, and whoever serves them gives none: no fault of a token's. */
export class KeysUnavailableError extends Error {
  constructor(cause: unknown) {
    super('the key set can not be had', { cause });
    this.name = 'KeysUnavailableError';
  }
}

const FETCH_TIMEOUT_MS = 5000;
/** A token that names an unknown key makes the set be fetched again, but not more often than this. */
const COOLDOWN_MS = 5000;
/** Nor is a server that fails asked more often than this. */
const FETCH_COOLDOWN_MS = 1000;

type Options = {
  /** A set older than this is fetched again while it still serves. */
  readonly refreshMs?: number;
  /** A set may stand in for so long when its server fails. A key that was withdrawn meanwhile counts until then. */
  readonly maxMs?: number;
  readonly now?: Clock;
};

/**
 * The public keys that a server publishes. `getKey` rejects with KeysUnavailableError when they can't be had, and with
 * jose's errors when none is the token's. `onFailure` gets to know each fetch that failed.
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
  /** All who waited for one fetch meet one error. */
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

/** A hundred certificates' chains come to less. */
const MAX_BYTES = 1024 * 1024;
const MAX_KEYS = 100;
/** So many keys have about two thousand. */
const MAX_VALUES = 10_000;

/** The same answer, with its whole body read. Rejects when that has too many bytes to keep, too many values to parse, or too many keys to try. */
const boundedKeySet = async (response: Response): Promise<Response> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new RangeError(`expected a key set of at most ${MAX_BYTES} bytes, got more`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const { values } = new JsonSize().add(body);
  if (values > MAX_VALUES)
    throw new RangeError(`expected a key set of at most ${MAX_VALUES} JSON values, got ${values}`);
  const count = response.ok ? keysIn(body) : 0;
  if (count > MAX_KEYS) throw new RangeError(`expected a key set of at most ${MAX_KEYS} keys, got ${count}`);
  return new Response(body, { status: response.status });
};

/** 0 for what is no key set: jose says so. */
const keysIn = (body: Buffer): number => {
  try {
    const { keys } = JSON.parse(String(body));
    return Array.isArray(keys) ? keys.length : 0;
  } catch {
    return 0;
  }
};

/** The server has just been asked. */
class CooldownError extends Error {}

const isAboutToken = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported;
