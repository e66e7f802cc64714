/** What a token says of itself. Its signature is the gateway's to check. */
export type TokenClaims = {
  /** Milliseconds since the epoch; null without `exp`. */
  readonly expiresAt: number | null;
  readonly scopes: readonly string[];
  /** Whose deliveries it sees. */
  readonly tenant: string | null;
};

/** The greatest number of milliseconds that is a date. */
const LAST_DATE = 8.64e15;

const objectIn = (part: string): Readonly<Record<string, unknown>> | null => {
  try {
    const binary = atob(part.replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
};

const scopesIn = (scope: unknown): readonly string[] => {
  if (typeof scope === 'string') return scope.split(' ').filter((name) => name !== '');
  return Array.isArray(scope) ? scope.filter((name) => typeof name === 'string') : [];
};

/** The claims of a JWT; null when the text is none. */
export const claimsOf = (token: string): TokenClaims | null => {
  const parts = token.split('.');
  const [header = '', payload = ''] = parts;
  const claims = objectIn(payload);
  if (parts.length !== 3 || objectIn(header) === null || claims === null) return null;
  const { exp, scope, tenant, sub } = claims;
  const expiresAt = typeof exp === 'number' && Math.abs(exp * 1000) <= LAST_DATE ? exp * 1000 : null;
  const owner = tenant ?? sub;
  return { expiresAt, scopes: scopesIn(scope), tenant: typeof owner === 'string' ? owner : null };
};

/** Why a text is no JWT; null when it is one. */
export const wrongToken = (token: string): string | null => {
  const parts = token.split('.').length;
  if (parts !== 3)
    return `Expected a JWT (three parts with dots between them), got ${parts === 1 ? '1 part' : `${parts} parts`}.`;
  return claimsOf(token) === null
    ? 'Expected a JWT (its first two parts are base64url of JSON), got something else.'
    : null;
};
