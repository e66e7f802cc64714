import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { semanticNonNullLevels } from '../../../../src/graph/semantic-non-null.ts';
import type { GraphQLFault } from '../../../support/gateway/start.ts';

const TYPE = '__typename';

/** The document, which also asks of each object what its type is. An alias would count against a document's limits. */
export const withTypenames = (text: string): DocumentNode =>
  visit(parse(text), {
    SelectionSet: {
      leave: (node) => ({
        ...node,
        selections: [...node.selections, { kind: Kind.FIELD, name: { kind: Kind.NAME, value: TYPE } }],
      }),
    },
  });

type Path = readonly (string | number)[];

/** A place of the schema, and what is selected of the value there. */
type Place = {
  readonly type: GraphQLOutputType;
  readonly place: string;
  readonly marked: readonly number[];
  readonly level: number;
  readonly selectionSet: SelectionSetNode | undefined;
};

/**
 * Looks for nulls at places that are marked by `@semanticNonNull`, in the answer to a document of `withTypenames`. A null is
 * explained by an error at its path, or below it where a field that can't be null has failed.
 */
export const unexplainedNulls = (
  schema: GraphQLSchema,
  document: string,
  data: unknown,
  errors: readonly GraphQLFault[],
): { readonly unexplained: readonly string[]; readonly explained: ReadonlySet<string> } => {
  const { definitions } = parse(document);
  const fragments = new Map(
    definitions
      .filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const failed = new Set(
    errors.flatMap(({ path = [] }) => path.map((_, index) => JSON.stringify(path.slice(0, index + 1)))),
  );
  const unexplained: string[] = [];
  const explained = new Set<string>();

  const onNull = (place: string, path: Path): void => {
    if (failed.has(JSON.stringify(path))) explained.add(place);
    else unexplained.push(`${place} at ${path.join('.')}`);
  };
  const inValue = (place: Place, value: unknown, path: Path): void => {
    const { type, marked, level, selectionSet } = place;
    const nullable = isNonNullType(type) ? type.ofType : type;
    if (value === null) {
      if (marked.includes(level)) onNull(`${place.place}${'[]'.repeat(level)}`, path);
    } else if (isListType(nullable) && Array.isArray(value)) {
      const items = { ...place, type: nullable.ofType, level: level + 1 };
      for (const [index, item] of value.entries()) inValue(items, item, [...path, index]);
    } else if (selectionSet) inObject(value as Record<string, unknown>, selectionSet, path);
  };
  const inField = (
    type: GraphQLObjectType,
    { name, alias, selectionSet }: FieldNode,
    object: Record<string, unknown>,
    path: Path,
  ): void => {
    const key = alias?.value ?? name.value;
    const field = type.getFields()[name.value];
    if (!field || !Object.hasOwn(object, key)) return;
    const marked = semanticNonNullLevels(field);
    inValue(
      { type: field.type, place: `${type.name}.${field.name}`, marked, level: 0, selectionSet },
      object[key],
      [...path, key],
    );
  };
  const inObject = (object: Record<string, unknown>, selectionSet: SelectionSetNode, path: Path): void => {
    const type = schema.getType(String(object[TYPE]));
    if (!isObjectType(type)) throw new TypeError(`Expected the type of an object, got ${object[TYPE]}.`);
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) inField(type, selection, object, path);
      else {
        const { typeCondition, selectionSet: inner } = fragmentOf(selection, fragments);
        if (appliesTo(typeCondition?.name.value ?? type.name, type)) inObject(object, inner, path);
      }
    }
  };
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (operation && data) inObject(data as Record<string, unknown>, operation.selectionSet, []);
  return { unexplained, explained };
};

const fragmentOf = (
  selection: InlineFragmentNode | FragmentSpreadNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Pick<InlineFragmentNode, 'typeCondition' | 'selectionSet'> => {
  if (selection.kind === Kind.INLINE_FRAGMENT) return selection;
  const fragment = fragments.get(selection.name.value);
  if (!fragment) throw new TypeError(`Expected the fragment ${selection.name.value}.`);
  return fragment;
};

const appliesTo = (condition: string, type: GraphQLObjectType): boolean =>
  condition === type.name || type.getInterfaces().some(({ name }) => name === condition);
