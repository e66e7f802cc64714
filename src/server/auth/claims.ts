import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { SCOPES, type Scope } from '../../scopes.ts';
import { tokenRefused } from './auth-errors.ts';

/** What a verified token says of its bearer. */
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

/** Throws UNAUTHENTICATED. `isTenant` says whether a delivery url can carry it. */
export const readClaims = (payload: JWTPayload, isTenant: (text: string) => boolean): Bearer => {
  const { data, error } = Claims.safeParse(payload);
  if (error) {
    const claim = String(error.issues[0]?.path[0]);
    throw tokenRefused(`Expected a token whose ${claim} is ${EXPECTED[claim]}, got something else.`);
  }
  const { exp, sub, scope = [] } = data;
  const tenant = data.tenant ?? sub;
  if (tenant === undefined)
    throw tokenRefused('Expected a token with sub or tenant, got one without either.');
  if (!isTenant(tenant))
    throw tokenRefused(
      `Expected a token whose ${data.tenant === undefined ? 'sub' : 'tenant'} can stand in the path of a url, got one that can not.`,
    );
  const granted = typeof scope === 'string' ? scope.split(' ') : scope;
  return {
    tenant,
    // A token without a subject is its tenant's, who is nobody's namesake.
    billingKey: sub === undefined ? `tenant:${tenant}` : `sub:${sub}`,
    scopes: new Set(SCOPES.filter((known) => granted.includes(known))),
    expiresAt: exp * 1000,
  };
};
