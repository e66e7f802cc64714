import { decodeJwt } from 'jose';
import { ConfigError, readConfig } from '../config/config.ts';
import type { Environment } from '../config/variable.ts';
import { isTenant } from '../deliveries/ingress/delivery-url.ts';
import { monotonicClock } from '../lib/deadlines.ts';
import { messageOf } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import type { Bearer } from '../server/auth/authenticate.ts';
import { claimAt, grantedIn } from '../server/auth/claims.ts';
import { createTokens } from '../server/auth/tokens.ts';
import { CommandError } from './options.ts';

/** Says how a gateway understands a token, to whoever connects an issuer: `--check --token`. */

/** More than any token, with a newline behind it. */
const MAX_CHARACTERS = 16_384;

/**
 * Verifies the token that is the input, as a gateway does, and resolves with a text that says what is made of it. Rejects with
 * ConfigError, and with CommandError where the token is refused. Nothing quotes the token: names of its claims and scopes are shown.
 */
export const describeToken = async (
  env: Environment,
  input: AsyncIterable<Uint8Array>,
  say: (line: string) => void,
): Promise<string> => {
  const { auth } = readConfig(env);
  if (auth.mode !== 'jwt') throw new ConfigError([`AUTH: expected jwt beside --token, got ${auth.mode}`]);
  const token = await tokenIn(input);
  const log = createLog('error', say);
  const verify = createTokens({ ...auth, isTenant, log, now: monotonicClock });
  const bearer = await verify(token).catch((error: unknown) => {
    throw new CommandError([`The token is refused. ${messageOf(error)}`, ...claimsOf(token)].join('\n'));
  });
  const claims = decodeJwt(token);
  const tenantClaim = claimAt(claims, auth.claims.tenant) === undefined ? 'sub' : auth.claims.tenant;
  const known = new Set(auth.scopeNames?.map(([, called]) => called) ?? bearer.scopes);
  const unknown = grantedIn(claims, auth.claims).filter((called) => !known.has(called));
  return `${[
    'The token is accepted.',
    ...rowsOf(bearer, tenantClaim, auth.claims.scopes).map(([name, value]) => `  ${name.padEnd(8)}${value}`),
    ...(unknown.length > 0
      ? [`It also says ${unknown.join(', ')}, which grants nothing here: see JWT_SCOPES.`]
      : []),
    ...(bearer.scopes.size === 0 ? claimsOf(token) : []),
  ].join('\n')}\n`;
};

const rowsOf = (
  { tenant, billingKey, scopes, expiresAt }: Bearer,
  tenantClaim: string,
  scopeClaims: readonly string[],
): readonly (readonly [name: string, value: string])[] => [
  ['tenant', `${tenant}, by ${tenantClaim}`],
  ['scopes', `${[...scopes].join(', ') || 'none'}, by ${scopeClaims.join(' and ')}`],
  ['budget', `that of ${billingKey}`],
  ['until', new Date(expiresAt).toISOString()],
];

/** The names of all claims of a token, which may be forged; none where it can't be read. */
const claimsOf = (token: string): readonly string[] => {
  try {
    return [`It has these claims: ${pathsIn(decodeJwt(token)).toSorted().join(', ')}`];
  } catch {
    return [];
  }
};

const MAX_DEPTH = 3;

const pathsIn = (claims: object, depth = 1): readonly string[] =>
  Object.entries(claims).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && depth < MAX_DEPTH
      ? pathsIn(value, depth + 1).map((path) => `${name}.${path}`)
      : [name],
  );

const tokenIn = async (input: AsyncIterable<Uint8Array>): Promise<string> => {
  let text = '';
  for await (const chunk of input) {
    text += Buffer.from(chunk).toString('latin1');
    if (text.length > MAX_CHARACTERS) break;
  }
  const token = text.trim().replace(/^Bearer\s+/i, '');
  if (token === '')
    throw new CommandError(
      'Expected a token on standard input, as of `--check --token < token.txt`, got none.',
    );
  return token;
};
