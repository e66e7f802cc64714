import type { AuthFailure } from '@pothos/plugin-scope-auth';
import type { GraphQLError } from 'graphql';
import { forbidden, SCOPES, type Scope } from './scopes.ts';

/** What fields declare as `authScopes`. */
export type AuthScopes = { readonly [Name in Scope]: true };

/** For Pothos' plugin: a subscription is judged when it begins, and not again at each event. */
export const authorization = {
  authorizeOnSubscribe: true,
  authScopes: ({ scopes }: { readonly scopes: ReadonlySet<Scope> }) => ({
    wallets: scopes.has('wallets'),
    webhooks: scopes.has('webhooks'),
    deliveries: scopes.has('deliveries'),
  }),
  unauthorizedError: (
    _parent: unknown,
    _context: unknown,
    _info: unknown,
    { failure }: { readonly failure: AuthFailure },
  ): GraphQLError => forbidden(missingScope(failure)),
};

const missingScope = (failure: AuthFailure): Scope => {
  const named = 'failures' in failure ? failure.failures.map(missingScope) : [];
  const scope = SCOPES.find(
    (known) => named.includes(known) || ('scope' in failure && failure.scope === known),
  );
  if (scope === undefined) throw new TypeError(`Expected a field to need a scope, got ${failure.kind}.`);
  return scope;
};
