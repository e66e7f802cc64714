import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import type { Context } from '../context.ts';
import { type AuthScopes, authorization } from './authorization.ts';
import { decodeGlobalId, encodeGlobalId } from './node.ts';
import type { Scalars } from './scalars.ts';

type Types = {
  Context: Context;
  Scalars: Scalars;
  AuthScopes: AuthScopes;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: false;
};

/** What Pothos' own types call their `Types` parameter. */
export type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** Defines no types: each feature adds its own. Fields are non-null unless they say when they are null. */
export const builder = new SchemaBuilder<Types>({
  // First, so that it stands outermost: nothing runs before it has been asked.
  plugins: [ScopeAuthPlugin, RelayPlugin],
  scopeAuth: authorization,
  defaultFieldNullability: false,
  relay: {
    cursorType: 'String',
    encodeGlobalID: encodeGlobalId,
    decodeGlobalID: decodeGlobalId,
    pageInfoTypeOptions: { description: 'Where a page lies in its connection.' },
    hasNextPageFieldOptions: {
      description:
        'Whether there is more behind the page. With first: 0, lists of the service are not read, and it is false.',
    },
    hasPreviousPageFieldOptions: { description: 'Whether there is more before the page.' },
    startCursorFieldOptions: { description: "The first edge's cursor. Null on an empty page." },
    endCursorFieldOptions: { description: "The last edge's cursor. Null on an empty page." },
    nodeTypeOptions: { description: 'An object with an id that stays the same, to refetch it by `node`.' },
    idFieldOptions: { description: 'Opaque and global: of this object alone, whatever its type.' },
    // See node-queries.ts: Pothos' own would fail all ids with one.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
  },
});

builder.queryType({ description: 'Lookups by wallet, and what the service has delivered.' });
builder.mutationType({ description: 'Changes to webhooks.' });
builder.subscriptionType({ description: 'Events as they arrive.' });
