import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLDeferDirective,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  GraphQLStreamDirective,
  getNamedType,
  isAbstractType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  TypeNameMetaFieldDef,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { collectFields, type VariableValues } from '../cost/operation-info.ts';
import type { PlannedField, plannedFields } from './compile.ts';

/** A document whose lists plans can write. */
export type PlannedDocument = {
  /** The variables that decide `@skip` and `@include`. */
  readonly conditions: readonly string[];
  /** Whether its operations read nothing but pages of lookups, and their answers come in one part. */
  readonly readsPagesAlone: boolean;
  /** Whether one use of a list may be deferred and another not. */
  readonly mayDeferUses: boolean;
};

const OF_PAGES = { isOfPages: true };

/** The `extensions` of a field of Query below which everything comes from its arguments and from pages of lookups. */
export const ofPages = (): typeof OF_PAGES => OF_PAGES;

const NOT_OF_PAGES = { isOfPages: false };

/** The `extensions` of a field of any other type that reads something else, such as the list of chains. */
export const notOfPages = (): typeof NOT_OF_PAGES => NOT_OF_PAGES;

/**
 * Returns what is known of a document whose lists plans can write. Returns null for a document that is left to the executor:
 * one without such lists, with introspection, or with another directive; and where parts of items come later. `lists` are
 * the fields that plans write.
 */
export const inspectDocument = (
  schema: GraphQLSchema,
  lists: ReturnType<typeof plannedFields>,
  document: DocumentNode,
): PlannedDocument | null => {
  const conditions = new Set<string>();
  const directives = new Set<string>();
  let hasLists = false;
  let isKnown = true;
  let readsPagesAlone = true;
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const typeInfo = new TypeInfo(schema);
  const fragments = fragmentsIn(document);
  const onField = (node: FieldNode): void => {
    const parent = typeInfo.getParentType();
    const field = typeInfo.getFieldDef();
    if (field === TypeNameMetaFieldDef) return;
    if (!field || node.name.value.startsWith('__')) isKnown = false;
    else {
      const isRoot = isObjectType(parent) && roots.includes(parent);
      readsPagesAlone &&= (field.extensions.isOfPages ?? !isRoot) === true;
    }
    const list = field && lists.get(field);
    if (!list) return;
    hasLists = true;
    isKnown &&= isWrittenWhole(node, getNamedType(field.type), list.writable, fragments);
  };
  const onDirective = ({ name, arguments: args = [] }: DirectiveNode): void => {
    directives.add(name.value);
    if (CONDITIONS.has(name.value))
      for (const { value } of args) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
  };
  visit(document, visitWithTypeInfo(typeInfo, { Field: onField, Directive: onDirective }));
  const hasParts = [...directives].some((name) => PARTS.has(name));
  isKnown &&= [...directives].every((name) => CONDITIONS.has(name) || PARTS.has(name));
  if (!hasLists || !isKnown) return null;
  return {
    conditions: [...conditions],
    readsPagesAlone: readsPagesAlone && !hasParts,
    mayDeferUses: directives.has(DEFER) && mergesLists(schema, lists, document),
  };
};

const CONDITIONS: ReadonlySet<string> = new Set([GraphQLSkipDirective.name, GraphQLIncludeDirective.name]);
const { name: DEFER } = GraphQLDeferDirective;
const PARTS: ReadonlySet<string> = new Set([DEFER, GraphQLStreamDirective.name]);

const hasParts = ({ directives = [] }: SelectionNode): boolean =>
  directives.some(({ name }) => PARTS.has(name.value));

/** Whether a list is selected more than once in one object. */
const mergesLists = (
  schema: GraphQLSchema,
  lists: ReturnType<typeof plannedFields>,
  document: DocumentNode,
): boolean => {
  const unconditional: DocumentNode = visit(document, { Directive: () => null });
  const fragments = fragmentsIn(unconditional);
  const merges = (type: GraphQLNamedType, sets: readonly SelectionSetNode[]): boolean =>
    (isAbstractType(type) ? schema.getPossibleTypes(type) : [type]).some(
      (of) => isObjectType(of) && fieldsOf(of, sets).some((nodes) => mergesIn(of, nodes)),
    );
  const fieldsOf = (type: GraphQLObjectType, sets: readonly SelectionSetNode[]) => [
    ...collectFields({ schema, fragments, variableValues: NO_VARIABLES }, type, sets).values(),
  ];
  const mergesIn = (parent: GraphQLObjectType, nodes: readonly FieldNode[]): boolean => {
    const field = schema.getField(parent, nodes[0]?.name.value ?? '');
    if (!field) return false;
    if (lists.has(field)) return nodes.length > 1;
    return merges(
      getNamedType(field.type),
      nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    );
  };
  return unconditional.definitions.some((node) => {
    const root = node.kind === Kind.OPERATION_DEFINITION && schema.getRootType(node.operation);
    return root && merges(root, [node.selectionSet]);
  });
};

const NO_VARIABLES: VariableValues = { sources: {}, coerced: {} };

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export const fragmentsIn = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );

/** Whether everything below a field of this type is among the fields that plans write, and comes with them. */
const isWrittenWhole = (
  node: FieldNode,
  type: GraphQLNamedType,
  writable: PlannedField['writable'],
  fragments: Fragments,
): boolean => {
  const visited = new Set<string>();
  const isWritten = (of: GraphQLNamedType, selections: readonly SelectionNode[] = []): boolean =>
    selections.every((selection) => {
      if (hasParts(selection)) return false;
      if (selection.kind === Kind.INLINE_FRAGMENT) return isWritten(of, selection.selectionSet.selections);
      const { value: name } = selection.name;
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        if (visited.has(`${of.name} ${name}`)) return true;
        visited.add(`${of.name} ${name}`);
        return isWritten(of, fragments.get(name)?.selectionSet.selections);
      }
      // A fragment on an interface may have fields for other types.
      const field = isObjectType(of) ? of.getFields()[name] : undefined;
      if (field === undefined) return true;
      return writable.has(field) && isWritten(getNamedType(field.type), selection.selectionSet?.selections);
    });
  return isWritten(type, node.selectionSet?.selections);
};
