import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  TypeInfo,
  TypeNameMetaFieldDef,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { plannedFields } from './planned-types.ts';

/** A document whose lists plans can write. */
export type PlannedDocument = {
  /** The variables that decide `@skip` and `@include`. */
  readonly conditions: readonly string[];
  /** Whether its operations read nothing but pages of lookups. */
  readonly readsPagesAlone: boolean;
};

const OF_PAGES = { isOfPages: true };

/** The `extensions` of a field of Query below which everything comes from its arguments and from pages of lookups. */
export const ofPages = (): typeof OF_PAGES => OF_PAGES;

/**
 * Returns what is known of a document whose lists plans can write. Returns null for a
 * document that is left to the executor: one without such lists, with introspection, or with another directive. `lists` are
 * the fields that plans write.
 */
export const inspectDocument = (
  schema: GraphQLSchema,
  lists: ReturnType<typeof plannedFields>,
  document: DocumentNode,
): PlannedDocument | null => {
  const conditions = new Set<string>();
  let hasLists = false;
  let isKnown = true;
  let readsPagesAlone = true;
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const typeInfo = new TypeInfo(schema);
  const onField = ({ name }: FieldNode): void => {
    const parent = typeInfo.getParentType();
    const field = typeInfo.getFieldDef();
    if (field === TypeNameMetaFieldDef) return;
    if (!field || name.value.startsWith('__')) isKnown = false;
    else if (isObjectType(parent) && roots.includes(parent) && field.extensions.isOfPages !== true)
      readsPagesAlone = false;
    else if (lists.has(field)) hasLists = true;
  };
  const onDirective = ({ name, arguments: args = [] }: DirectiveNode): void => {
    if (name.value !== 'skip' && name.value !== 'include') isKnown = false;
    for (const { value } of args) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
  };
  visit(document, visitWithTypeInfo(typeInfo, { Field: onField, Directive: onDirective }));
  return hasLists && isKnown ? { conditions: [...conditions], readsPagesAlone } : null;
};
