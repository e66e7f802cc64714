import type { AuthFailure } from '@pothos/plugin-scope-auth';
import {
  BREAK,
  type DocumentNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { rememberEach } from '../lib/memo.ts';
import type { Scope } from '../scopes.ts';
import { clientError } from './errors.ts';

/** What a field declares as `authScopes`: the scope that the caller needs. */
export type AuthScopes = { readonly [Name in Scope]: true };

/** Options of Pothos' scope-auth plugin. A subscription is authorized once, when it starts, and not at each event. */
export const authorization = {
  authorizeOnSubscribe: true,
  authScopes: ({ scopes }: { readonly scopes: ReadonlySet<Scope> }) => allowedScopes(scopes),
  unauthorizedError: (
    _parent: unknown,
    _context: unknown,
    _info: unknown,
    { failure }: { readonly failure: AuthFailure },
  ): GraphQLError => {
    const scope = missingScope(failure);
    if (scope === undefined) throw new TypeError(`Expected a field to need a scope, got ${failure.kind}.`);
    return forbidden(scope);
  },
};

/** A scope that is missing here is denied. */
const allowedScopes = rememberEach(
  (scopes: ReadonlySet<Scope>) => Object.fromEntries([...scopes].map((scope) => [scope, true])) as AuthScopes,
);

const missingScope = (failure: AuthFailure): Scope | undefined => {
  if ('scope' in failure) return failure.scope as Scope;
  const failures = 'failures' in failure ? failure.failures : [];
  return failures.map(missingScope).find((scope) => scope !== undefined);
};

/** Returns the `extensions` of a Node type: the scope that the caller needs to refetch one. */
export const withScope = (scope: Scope): { readonly scope: Scope } => ({ scope });

/** Returns the scope that a type declares by `withScope`; undefined for a type that can't be refetched. */
export const scopeOfType = ({ extensions }: GraphQLNamedType): Scope | undefined =>
  extensions.scope as Scope | undefined;

/**
 * Returns the scope that a field declares by `authScopes`; undefined for a field that declares none, or whose arguments
 * decide.
 */
export const scopeOfField = ({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'extensions'>): Scope | undefined => {
  const { authScopes = {} } = (extensions.pothosOptions ?? {}) as { readonly authScopes?: object };
  return Object.keys(authScopes)[0] as Scope | undefined;
};

export const forbidden = (scope: Scope): GraphQLError =>
  clientError('FORBIDDEN', `Expected a token with the scope ${scope}, got one without it.`, { scope });

/** The `extensions` of a field whose value is a secret. */
export const SECRET = { secret: true } as const;

/** Returns a function that tells whether a document selects a secret. It looks at each document once. */
export const createSecretFinder = (schema: GraphQLSchema): ((document: DocumentNode) => boolean) =>
  rememberEach((document) => selectsSecret(schema, document));

const selectsSecret = (schema: GraphQLSchema, document: DocumentNode): boolean => {
  const typeInfo = new TypeInfo(schema);
  let found = false;
  const Field = (): typeof BREAK | undefined => {
    found ||= typeInfo.getFieldDef()?.extensions.secret === true;
    return found ? BREAK : undefined;
  };
  visit(document, visitWithTypeInfo(typeInfo, { Field }));
  return found;
};
