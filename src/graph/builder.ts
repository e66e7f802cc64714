import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import type { Context } from '../context.ts';
import { type AuthScopes, authorization } from './authorization.ts';
import { decodeGlobalId, encodeGlobalId } from './global-id.ts';

/** The scalars as resolvers see them. Resolvers return exact and canonical values, so output needs no conversion. */
type Scalars = {
  ID: { Input: string; Output: string | number | bigint };
  Address: { Input: string; Output: string };
  BigInt: { Input: string; Output: string };
  ChainId: { Input: number; Output: number };
  DateTime: { Input: string; Output: string };
  Decimal: { Input: string; Output: string };
  Hex: { Input: string; Output: string };
  JSON: { Input: unknown; Output: unknown };
  URL: { Input: string; Output: string };
  UUID: { Input: string; Output: string };
};

type Types = {
  Context: Context;
  Scalars: Scalars;
  AuthScopes: AuthScopes;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: false;
};

/** What Pothos' own types call their `Types` parameter. */
export type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** Builds the schema. It defines no types: each feature adds its own. A field is non-null unless it says when it is null. */
export const builder = new SchemaBuilder<Types>({
  // The first plugin wraps the others: a field is authorized before anything else runs.
  plugins: [ScopeAuthPlugin, RelayPlugin],
  scopeAuth: authorization,
  defaultFieldNullability: false,
  relay: {
    cursorType: 'String',
    encodeGlobalID: encodeGlobalId,
    decodeGlobalID: decodeGlobalId,
    pageInfoTypeOptions: { description: 'Where a page begins and ends in its connection.' },
    hasNextPageFieldOptions: {
      description:
        'Whether the connection has items after the page. With first: 0 a list of the service is not read, and this is false.',
    },
    hasPreviousPageFieldOptions: {
      description: 'Whether the connection has items before the page.',
    },
    startCursorFieldOptions: { description: "The first edge's cursor. Null for an empty page." },
    endCursorFieldOptions: { description: "The last edge's cursor. Null for an empty page." },
    nodeTypeOptions: { description: 'An object with a stable id. `node` refetches it by that id.' },
    idFieldOptions: {
      description: 'The global id of this object: opaque, stable, and unique among all types.',
    },
    // Pothos' own queries would fail all ids if one fails, so node.ts has its own.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
  },
});

builder.queryType({ description: 'All reads. The fields of one operation are resolved at the same time.' });
builder.mutationType({
  description: 'All changes. The fields of one operation are resolved one after the other.',
});
builder.subscriptionType({ description: 'Events as they arrive.' });

/** Says of a field that it is null if upstream omits its value. */
export const nullIfOmitted = (description: string) =>
  ({ nullable: true, description: `${description} Null when the service omits it.` }) as const;
