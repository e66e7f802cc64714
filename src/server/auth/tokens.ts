import { hash } from 'node:crypto';
import { errors } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../logger.ts';
import { keysUnavailable, tokenExpired, tokenRefused } from './auth-errors.ts';
import { type Bearer, readClaims } from './claims.ts';
import { hmacKeys, jwksKeys, KeysUnavailableError } from './jwks.ts';
import { verifyToken } from './verify-token.ts';

export type TokenOptions = {
  readonly keys: { readonly secret: string } | { readonly jwksUrl: string };
  /** What `iss` must be; null when anything may. */
  readonly issuer: string | null;
  /** What `aud` must name; null when it may name anything. */
  readonly audience: string | null;
  /** Whether deliveries can be addressed to it. */
  readonly isTenant: (text: string) => boolean;
  readonly log: Log;
  readonly now: Clock;
};

/** Rejects with UNAUTHENTICATED, saying what was expected and nothing of the token. */
export type VerifyToken = (token: string) => Promise<Bearer>;

const MAX_TOKEN_CHARACTERS = 8192;

/** Two machines' clocks are never quite the same. */
const CLOCK_TOLERANCE_S = 5;

/** A token that was verified is not verified again for so long: a key that is withdrawn counts no longer than that. */
const TRUSTED_MS = 60_000;
const MAX_TRUSTED = 10_000;

/** Verifies tokens; what was verified a moment ago is known by its hash. */
export const createTokens = ({ keys, issuer, audience, isTenant, log, now }: TokenOptions): VerifyToken => {
  const { algorithms, getKey } =
    'secret' in keys
      ? hmacKeys(keys.secret)
      : jwksKeys(
          keys.jwksUrl,
          (error) => log.error('the key set for tokens can not be had', { error: messagesOf(error) }),
          { now },
        );
  const expected = {
    algorithms: [...algorithms],
    clockTolerance: CLOCK_TOLERANCE_S,
    ...(issuer !== null && { issuer }),
    ...(audience !== null && { audience }),
  };
  const trusted = new LRUCache<string, Bearer>({ max: MAX_TRUSTED, ttl: TRUSTED_MS, perf: { now } });

  const verify: VerifyToken = async (token) => {
    try {
      const { payload } = await verifyToken(token, getKey, expected);
      const { expiresAt, ...bearer } = readClaims(payload, isTenant);
      return { ...bearer, expiresAt: expiresAt + CLOCK_TOLERANCE_S * 1000 };
    } catch (error) {
      throw toClient(error, algorithms);
    }
  };

  return async (token) => {
    if (token.length > MAX_TOKEN_CHARACTERS)
      throw tokenRefused(`Expected a token of at most ${MAX_TOKEN_CHARACTERS} characters, got a longer one.`);
    const fingerprint = hash('sha256', token);
    const known = trusted.get(fingerprint);
    if (known && known.expiresAt > Date.now()) return known;
    const bearer = await verify(token);
    trusted.set(fingerprint, bearer);
    return bearer;
  };
};

/** What a client is told of why its token is refused; other errors stay as they are. */
const toClient = (error: unknown, algorithms: readonly string[]): unknown => {
  if (error instanceof KeysUnavailableError) return keysUnavailable();
  if (error instanceof errors.JWTExpired) return tokenExpired();
  if (error instanceof errors.JWTClaimValidationFailed) return tokenRefused(sentenceOn(error));
  if (error instanceof errors.JOSEAlgNotAllowed)
    return tokenRefused(
      `Expected a token signed with one of ${algorithms.join(', ')}, got one that is signed otherwise or not at all.`,
    );
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return tokenRefused('Expected a token signed with a key of this gateway, got one that is not.');
  if (error instanceof errors.JOSEError)
    return tokenRefused('Expected a signed JWT, got something that does not read as one.');
  return error;
};

const sentenceOn = ({ claim, reason }: errors.JWTClaimValidationFailed): string => {
  if (reason === 'missing') return `Expected a token with ${claim}, got one without.`;
  if (reason === 'invalid') return `Expected a token whose ${claim} is a number, got something else.`;
  if (claim === 'nbf') return 'Expected a token that is valid already, got one that is not yet.';
  return `Expected a token whose ${claim} is the one that this gateway takes, got another.`;
};

/** fetch() tells what went wrong in its causes alone. */
const messagesOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messagesOf(error.cause)}`;
};
