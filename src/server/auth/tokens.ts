import { hash } from 'node:crypto';
import { errors, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/deadlines.ts';
import type { Log } from '../../lib/log.ts';
import { atMostEntries } from '../../lib/memo.ts';
import {
  type Bearer,
  keysUnavailable,
  tokenExpired,
  tokenRejected,
  type VerifyToken,
} from './authenticate.ts';
import { type ClaimOptions, readClaims } from './claims.ts';
import { hmacKeys, jwksKeys, KeysUnavailableError, type TokenKeys } from './jwks.ts';

/** Which tokens are accepted. */
type AcceptedTokens = {
  /** The keys that verify tokens: a shared secret, two while it is replaced, or a JWKS at a URL. */
  readonly keys: { readonly secrets: readonly string[] } | { readonly jwksUrl: string };
  /** The required `iss`; null accepts any. */
  readonly issuer: string | null;
  /** The audience that `aud` must name; null accepts any. */
  readonly audience: string | null;
};

export type TokenOptions = AcceptedTokens &
  ClaimOptions & {
    readonly log: Log;
    readonly now: Clock;
  };

const MAX_TOKEN_CHARACTERS = 8192;

/** Tolerates the difference between the clocks of two machines. */
const CLOCK_TOLERANCE_S = 5;

/** How long a verified token is cached: a withdrawn key is accepted no longer than this. */
const CACHE_MS = 60_000;
const MAX_CACHED_TOKENS = 10_000;

/** The most keys that are tried for a token that names none. Each costs tens of microseconds. */
const MAX_KEYS_TRIED = 20;

/** Creates the verification of tokens. A verified token is cached by its hash. */
export const createTokens = ({ keys, issuer, audience, log, now, ...claims }: TokenOptions): VerifyToken => {
  const sources =
    'secrets' in keys
      ? keys.secrets.map(hmacKeys)
      : [
          jwksKeys(keys.jwksUrl, (error) => log.error('JWKS fetch failed', { error: messagesOf(error) }), {
            now,
          }),
        ];
  const algorithms = sources[0]?.algorithms ?? [];
  const expected = {
    algorithms: [...algorithms],
    clockTolerance: CLOCK_TOLERANCE_S,
    ...(issuer !== null && { issuer }),
    ...(audience !== null && { audience }),
  };
  const verified = new LRUCache<string, Bearer>({
    ...atMostEntries(MAX_CACHED_TOKENS),
    ttl: CACHE_MS,
    perf: { now },
  });

  const verify: VerifyToken = async (token) => {
    try {
      const { payload } = await verifyWithSources(token, sources, expected);
      const { expiresAt, ...bearer } = readClaims(payload, claims);
      return { ...bearer, expiresAt: expiresAt + CLOCK_TOLERANCE_S * 1000 };
    } catch (error) {
      throw toClientError(error, algorithms);
    }
  };

  return async (token) => {
    if (token.length > MAX_TOKEN_CHARACTERS)
      throw tokenRejected(
        `Expected a token of at most ${MAX_TOKEN_CHARACTERS} characters, got a longer one.`,
      );
    const fingerprint = hash('sha256', token);
    const known = verified.get(fingerprint);
    if (known && known.expiresAt > Date.now()) return known;
    const bearer = await verify(token);
    verified.set(fingerprint, bearer);
    return bearer;
  };
};

/** Tries the second secret if the first did not sign the token. */
const verifyWithSources = async (
  token: string,
  [source, ...others]: readonly TokenKeys[],
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> => {
  if (source === undefined) throw new errors.JWSSignatureVerificationFailed();
  try {
    return await verifyWithKeys(token, source.getKey, options);
  } catch (error) {
    if (!isOfOtherKey(error) || others.length === 0) throw error;
    return verifyWithSources(token, others, options);
  }
};

/** Like jose's `jwtVerify`, but tries each key if several match the token. */
const verifyWithKeys = async (
  token: string,
  getKey: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> => {
  try {
    return await jwtVerify(token, getKey, options);
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithAny(token, error, options);
    throw error;
  }
};

const verifyWithAny = async (
  token: string,
  keys: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> => {
  let tried = 0;
  for await (const key of keys) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      tried += 1;
      if (!isOfOtherKey(error) || tried === MAX_KEYS_TRIED) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
};

/** Whether the token is signed by another key than the one that was tried. */
const isOfOtherKey = (error: unknown): boolean => error instanceof errors.JWSSignatureVerificationFailed;

/** The error that tells a client why its token is rejected. Errors that are not about the token stay as they are. */
const toClientError = (error: unknown, algorithms: readonly string[]): unknown => {
  if (error instanceof KeysUnavailableError) return keysUnavailable();
  if (error instanceof errors.JWTExpired) return tokenExpired();
  if (error instanceof errors.JWTClaimValidationFailed) return tokenRejected(claimMessage(error));
  if (error instanceof errors.JOSEAlgNotAllowed)
    return tokenRejected(
      `Expected a token signed with one of ${algorithms.join(', ')}, got one that is signed otherwise or not at all.`,
    );
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return tokenRejected('Expected a token signed with a key of this gateway, got one that is not.');
  if (error instanceof errors.JOSEError)
    return tokenRejected('Expected a signed JWT, got something that cannot be parsed as one.');
  return error;
};

const claimMessage = ({ claim, reason }: errors.JWTClaimValidationFailed): string => {
  if (reason === 'missing') return `Expected a token with ${claim}, got one without.`;
  if (reason === 'invalid') return `Expected a token whose ${claim} is a number, got something else.`;
  if (claim === 'nbf') return 'Expected a token that is already valid, got one that is not yet valid.';
  return `Expected a token whose ${claim} is the one that this gateway accepts, got another.`;
};

/** The messages of an error and of its causes: fetch() says in its causes only what went wrong. */
const messagesOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messagesOf(error.cause)}`;
};
