import type { GraphQLError, GraphQLField, GraphQLNamedType } from 'graphql';
import { clientError } from './errors.ts';

/** What a client may be allowed to use, as its token's `scope` names it. */
export const SCOPES = ['wallets', 'webhooks', 'deliveries'] as const;

export type Scope = (typeof SCOPES)[number];

export const ALL_SCOPES: ReadonlySet<Scope> = new Set(SCOPES);

/** For the `extensions` of a type that is a Node: the scope that refetching one needs. */
export const withScope = (scope: Scope): { readonly scope: Scope } => ({ scope });

/** What a type declares by `withScope`; undefined for one that can't be refetched. */
export const scopeOfType = ({ extensions }: GraphQLNamedType): Scope | undefined =>
  SCOPES.find((scope) => extensions.scope === scope);

/** The scope that a field declares by `authScopes`; undefined for one that declares none, or leaves it to its arguments. */
export const scopeOfField = ({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'extensions'>): Scope | undefined => {
  const { authScopes } = (extensions.pothosOptions ?? {}) as { readonly authScopes?: object };
  return authScopes && SCOPES.find((scope) => scope in authScopes);
};

export const forbidden = (scope: Scope): GraphQLError =>
  clientError('FORBIDDEN', `Expected a token with the scope ${scope}, got one without it.`, { scope });
