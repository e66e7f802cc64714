import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { SCOPES, type Scope } from '../../scopes.ts';
import { tokenRejected } from './auth-errors.ts';

/** The bearer of a verified token, by its claims. */
export type Bearer = {
  readonly tenant: string;
  readonly billingKey: string;
  readonly scopes: ReadonlySet<Scope>;
  /** `exp` in milliseconds since 1970. */
  readonly expiresAt: number;
};

const MAX_NAME = 255;

const name = z.string().min(1).max(MAX_NAME);

const Claims = z.object({
  exp: z.number(),
  sub: name.optional(),
  tenant: name.optional(),
  scope: z.union([z.string(), z.array(z.string())]).optional(),
});

const EXPECTED: Readonly<Record<string, string>> = {
  exp: 'a number',
  sub: `text of 1 to ${MAX_NAME} characters`,
  tenant: `text of 1 to ${MAX_NAME} characters`,
  scope: 'text, or a list of it',
};

/** Reads the claims of a verified token. Throws UNAUTHENTICATED. `isTenant` says whether a delivery URL can carry a tenant. */
export const readClaims = (payload: JWTPayload, isTenant: (text: string) => boolean): Bearer => {
  const { data, error } = Claims.safeParse(payload);
  if (error) {
    const claim = String(error.issues[0]?.path[0]);
    throw tokenRejected(`Expected a token whose ${claim} is ${EXPECTED[claim]}, got something else.`);
  }
  const { exp, sub, scope = [] } = data;
  const tenant = data.tenant ?? sub;
  if (tenant === undefined)
    throw tokenRejected('Expected a token with sub or tenant, got one without either.');
  if (!isTenant(tenant))
    throw tokenRejected(
      `Expected a token whose ${data.tenant === undefined ? 'sub' : 'tenant'} can be part of a URL's path, got one that cannot.`,
    );
  const granted = typeof scope === 'string' ? scope.split(' ') : scope;
  return {
    tenant,
    // The prefixes keep a tenant and a subject of the same name apart.
    billingKey: sub === undefined ? `tenant:${tenant}` : `sub:${sub}`,
    scopes: new Set(SCOPES.filter((known) => granted.includes(known))),
    expiresAt: exp * 1000,
  };
};
