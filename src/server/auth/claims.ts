import { z } from 'zod';
import { SCOPES, type Scope } from '../../scopes.ts';
import { type Bearer, tokenRejected } from './authenticate.ts';

/** What a verified token says: issuers have different claims for it. */

/**
 * Which claims are read. A path names a claim, or a member of one, as in `realm_access.roles`. A claim whose own name has dots,
 * such as `https://example.com/scopes`, comes before a member of that path.
 */
export type ClaimPaths = {
  /** Each is a list of texts, or a text separated by spaces. What they say together counts. */
  readonly scopes: readonly string[];
  readonly tenant: string;
};

/** How the issuer calls the scopes. A scope with several names is granted by each of them; null: by its own name alone. */
type ScopeNames = readonly (readonly [scope: Scope, name: string])[] | null;

export type ClaimOptions = {
  readonly claims: ClaimPaths;
  readonly scopeNames: ScopeNames;
  /** Whether a delivery URL can carry the tenant. */
  readonly isTenant: (text: string) => boolean;
};

const MAX_NAME = 255;
const NAME = `text of 1 to ${MAX_NAME} characters`;

const expiry = z.number();
const name = z.string().min(1).max(MAX_NAME).optional();
const names = z
  .union([z.string().transform((text) => text.split(' ').filter(Boolean)), z.array(z.string())])
  .default([]);

/** What a path names in the claims of a token; undefined for nothing. */
export const claimAt = (claims: object, path: string): unknown => {
  if (Object.hasOwn(claims, path)) return (claims as Readonly<Record<string, unknown>>)[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const outer = claimAt(claims, path.slice(0, dot));
    const found =
      typeof outer === 'object' && outer !== null ? claimAt(outer, path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
};

const read = <Value>(claims: object, path: string, kind: z.ZodType<Value>, expected: string): Value => {
  const { data, success } = kind.safeParse(claimAt(claims, path));
  if (!success) throw tokenRejected(`Expected a token whose ${path} is ${expected}, got something else.`);
  return data;
};

/** What the scopes of a token are called by its issuer, in the order of the paths. Throws UNAUTHENTICATED. */
export const grantedIn = (claims: object, { scopes }: ClaimPaths): readonly string[] =>
  scopes.flatMap((path) => read(claims, path, names, 'text, or a list of it'));

/** The scopes that such names grant. */
const scopesOf = (granted: readonly string[], scopeNames: ScopeNames): ReadonlySet<Scope> => {
  const called = new Set(granted);
  const named = (scopeNames ?? []).flatMap(([scope, name]) => (called.has(name) ? [scope] : []));
  return new Set(SCOPES.filter((scope) => (scopeNames === null ? called.has(scope) : named.includes(scope))));
};

/** Reads the claims of a verified token. Throws UNAUTHENTICATED. */
export const readClaims = (claims: object, { claims: paths, scopeNames, isTenant }: ClaimOptions): Bearer => {
  const exp = read(claims, 'exp', expiry, 'a number');
  const sub = read(claims, 'sub', name, NAME);
  const own = read(claims, paths.tenant, name, NAME);
  const scopes = scopesOf(grantedIn(claims, paths), scopeNames);
  const tenant = own ?? sub;
  if (tenant === undefined)
    throw tokenRejected(`Expected a token with sub or ${paths.tenant}, got one without either.`);
  if (!isTenant(tenant))
    throw tokenRejected(
      `Expected a token whose ${own === undefined ? 'sub' : paths.tenant} can be part of a URL's path, got one that cannot.`,
    );
  return {
    ...{ tenant, scopes },
    // The prefixes keep a tenant and a subject of the same name apart.
    billingKey: sub === undefined ? `tenant:${tenant}` : `sub:${sub}`,
    expiresAt: exp * 1000,
  };
};
