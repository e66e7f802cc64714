import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLError,
  type GraphQLSchema,
  type InlineFragmentNode,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ParseOptions,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  type Source,
  specifiedRules,
  validate,
} from 'graphql';
import { clientError } from './errors.ts';

const MAX_BYTES = 64 * 1024;
const MAX_TOKENS = 2000;

/** Introspection asks for the type within a list or a non-null type by ofType within ofType, nine times and more. */
const OF_TYPE = 'ofType';
const MAX_NESTING = 32;

const LIMITS: readonly (readonly [measure: keyof OperationSize, max: number, what: string])[] = [
  ['depth', 16, 'levels of fields'],
  ['nesting', MAX_NESTING, 'levels of fields with ofType'],
  ['aliases', 50, 'aliases'],
  ['fields', 30, 'root fields'],
  ['directives', 30, 'directives'],
];

/** graphql compares every fragment with every other one. A page of a Relay or Apollo client has a few dozen. */
const MAX_FRAGMENTS = 100;
/** A page of a Relay or Apollo client has a few hundred fields, and about ten with the same name. */
const MAX_MERGING: FieldMerging = { fields: 10_000, alike: 64 };

/**
 * Parses a document. Throws OPERATION_TOO_COMPLEX for a document that exceeds a limit, and graphql's own error for one
 * that is not GraphQL.
 */
export const parseDocument = (source: string | Source, options?: ParseOptions): DocumentNode => {
  const bytes = Buffer.byteLength(typeof source === 'string' ? source : source.body);
  if (bytes > MAX_BYTES) throw tooComplex(`a document of at most ${MAX_BYTES} bytes`, `one of ${bytes}`);
  try {
    return parse(source, { ...options, maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof Error && error.message.includes(`more than ${MAX_TOKENS} tokens`))
      throw tooComplex(`a document of at most ${MAX_TOKENS} tokens`, 'one of more');
    throw error instanceof RangeError ? tooDeep() : error;
  }
};

type Rules = {
  /** The maximum number of errors. */
  readonly maxErrors: number;
  /** Whether the schema is private: introspection is an error, and errors suggest no names. */
  readonly closed: boolean;
};

/**
 * Returns the errors of a document. Its size is checked first, in time proportional to its text, because validation takes
 * far longer for some small documents.
 */
export const validateDocument = (
  schema: GraphQLSchema,
  document: DocumentNode,
  { maxErrors, closed }: Rules,
): readonly GraphQLError[] => {
  const limitError = checkSize(document);
  if (limitError) return [limitError];
  const rules = closed ? [...specifiedRules, NoSchemaIntrospectionCustomRule] : specifiedRules;
  try {
    // graphql adds one error, which says that it stopped.
    return validate(schema, document, rules, { maxErrors: maxErrors - 1, hideSuggestions: closed });
  } catch (error) {
    if (error instanceof RangeError) return [tooDeep()];
    throw error;
  }
};

const checkSize = (document: DocumentNode): GraphQLError | null => {
  const size = sizeOf(document);
  for (const [measure, max, what] of LIMITS)
    if (size[measure] > max)
      return tooComplex(`an operation of at most ${max} ${what}`, shown(size[measure]));
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (fragments > MAX_FRAGMENTS)
    return tooComplex(`a document of at most ${MAX_FRAGMENTS} fragments`, `one of ${fragments}`);
  const { fields, alike } = fieldMergingOf(document, MAX_MERGING);
  if (alike > MAX_MERGING.alike)
    return tooComplex(`at most ${MAX_MERGING.alike} fields of one name in one place of the answer`, 'more');
  if (fields > MAX_MERGING.fields)
    return tooComplex(
      `an operation of at most ${MAX_MERGING.fields} fields and fragment spreads`,
      'one of more',
    );
  return null;
};

const tooDeep = (): GraphQLError => tooComplex('a document that can be read', 'one nested too deeply');

const tooComplex = (expected: string, got: string): GraphQLError =>
  clientError('OPERATION_TOO_COMPLEX', `Expected ${expected}, got ${got}.`);

/** Fragments that double at each level have huge counts. */
const shown = (count: number): string => (count > 1_000_000 ? 'more than a million' : String(count));

/** How much work it is to merge an operation's fields. A fragment counts wherever it is spread. */
type FieldMerging = {
  /** The number of fields and fragment spreads. */
  readonly fields: number;
  /** The most fields with one name in one place of the answer. graphql compares every one of them with every other. */
  readonly alike: number;
};

/**
 * Returns the counts of all operations of a document. Counting stops beyond `limit`, so fragments that spread each other
 * twice, and thus double at each level, take no more time than others.
 */
const fieldMergingOf = (document: DocumentNode, limit: FieldMerging): FieldMerging => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  let fields = 0;
  let alike = 0;
  const openFragments = new Set<string>();
  const exceedsLimit = () => fields > limit.fields || alike > limit.alike;

  /** Counts selection sets that are merged into one. */
  const merge = (sets: readonly SelectionSetNode[], depth: number): void => {
    const byName = new Map<string, FieldNode[]>();
    const collect = (set: SelectionSetNode): void => {
      for (const selection of set.selections) {
        if (exceedsLimit()) return;
        if (selection.kind === Kind.FIELD) add(selection);
        else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
        else spread(selection.name.value);
      }
    };
    const add = (field: FieldNode): void => {
      const name = (field.alias ?? field.name).value;
      const others = byName.get(name);
      if (others) others.push(field);
      else byName.set(name, [field]);
      fields += 1;
      alike = Math.max(alike, others?.length ?? 1);
    };
    const spread = (name: string): void => {
      const fragment = fragments.get(name);
      if (!fragment || openFragments.has(name)) return;
      openFragments.add(name);
      // A spread counts as well, because fragments without fields may double, too.
      fields += 1;
      collect(fragment.selectionSet);
      openFragments.delete(name);
    };
    sets.forEach(collect);
    for (const named of byName.values()) {
      // A fragment that spreads itself would be merged forever. Validation rejects it.
      if (exceedsLimit() || depth === MAX_NESTING) return;
      merge(
        named.flatMap(({ selectionSet }) => selectionSet ?? []),
        depth + 1,
      );
    }
  };

  for (const node of document.definitions)
    if (node.kind === Kind.OPERATION_DEFINITION) merge([node.selectionSet], 1);
  return { fields, alike };
};

/** The size of an operation by its text alone. A fragment counts wherever it is spread. */
type OperationSize = {
  /** The nesting of fields; a field without subfields has 1. The type in a type is no level of its own. */
  readonly depth: number;
  /** The same, where it is. */
  readonly nesting: number;
  /** The fields of the selection set itself, without those of the sets below it. */
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
};

const NOTHING: OperationSize = { depth: 0, nesting: 0, fields: 0, aliases: 0, directives: 0 };

/**
 * Returns the size of a document: for each measure, the maximum over its operations. Every fragment is visited once, so the
 * time is proportional to the text, however often fragments spread each other. A fragment that spreads itself adds nothing
 * there: validation rejects it.
 */
const sizeOf = (document: DocumentNode): OperationSize => {
  const fragments = new Map(document.definitions.filter(isFragment).map((node) => [node.name.value, node]));
  const sizes = new Map<string, OperationSize>();

  const ofSet = (set: SelectionSetNode | undefined): OperationSize =>
    set?.selections.map(ofSelection).reduce(together, NOTHING) ?? NOTHING;

  const ofFragment = (name: string): OperationSize => {
    const size = sizes.get(name);
    if (size) return size;
    sizes.set(name, NOTHING);
    const fragment = fragments.get(name);
    const found = fragment ? withDirectives(ofSet(fragment.selectionSet), fragment) : NOTHING;
    sizes.set(name, found);
    return found;
  };
  const ofSelection = (node: SelectionNode): OperationSize => {
    if (node.kind === Kind.FIELD) return withDirectives(ofField(node, ofSet(node.selectionSet)), node);
    const added = node.kind === Kind.FRAGMENT_SPREAD ? ofFragment(node.name.value) : ofSet(node.selectionSet);
    return withDirectives(added, node);
  };
  const ofOperation = (node: OperationDefinitionNode): OperationSize =>
    [node, ...(node.variableDefinitions ?? [])].reduce(withDirectives, ofSet(node.selectionSet));

  return document.definitions.filter(isOperation).map(ofOperation).reduce(largest, NOTHING);
};

export const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode =>
  node.kind === Kind.FRAGMENT_DEFINITION;

export const isOperation = (node: DefinitionNode): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION;

const ofField = ({ alias, name }: FieldNode, below: OperationSize): OperationSize => ({
  ...below,
  depth: below.depth + (name.value === OF_TYPE ? 0 : 1),
  nesting: below.nesting + 1,
  fields: 1,
  aliases: below.aliases + (alias ? 1 : 0),
});

type Directed = Pick<FieldNode | FragmentSpreadNode | InlineFragmentNode, 'directives'>;

const withDirectives = (size: OperationSize, { directives = [] }: Directed): OperationSize => ({
  ...size,
  directives: size.directives + directives.length,
});

const together = (one: OperationSize, other: OperationSize): OperationSize => ({
  depth: Math.max(one.depth, other.depth),
  nesting: Math.max(one.nesting, other.nesting),
  fields: one.fields + other.fields,
  aliases: one.aliases + other.aliases,
  directives: one.directives + other.directives,
});

const largest = (one: OperationSize, other: OperationSize): OperationSize => ({
  depth: Math.max(one.depth, other.depth),
  nesting: Math.max(one.nesting, other.nesting),
  fields: Math.max(one.fields, other.fields),
  aliases: Math.max(one.aliases, other.aliases),
  directives: Math.max(one.directives, other.directives),
});
