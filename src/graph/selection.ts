import {
  type DocumentNode,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql';
import { rememberEach } from '../lib/memo.ts';
import { collectFields, type SelectionInfo } from './cost/operation-info.ts';

/** A field of an object, with all its uses. */
export type Field = {
  readonly key: string;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly output: Output;
};

/** The type of a field, or of the items of a list, with what is selected of its objects. */
export type Output = { readonly isNonNull: boolean } & (
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType }
  | { readonly kind: 'list'; readonly items: Output }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType; readonly below: Below }
  | { readonly kind: 'abstract'; readonly type: GraphQLAbstractType; readonly below: Below }
);

/** What is selected below all uses of a field, or by an operation. */
export type Below = {
  readonly nodes: readonly (FieldNode | OperationDefinitionNode)[];
  /** By the types of the objects that there were. */
  readonly fields: Map<GraphQLObjectType, readonly Field[]>;
};

/** What is known of an operation. */
type KnownOperation = {
  /** The variables that decide what `@skip` and `@include` exclude. */
  readonly conditions: readonly string[];
  /** What is selected, by the values of these variables. */
  readonly byConditions: Map<string, Below>;
  /** The number of fields in there. */
  count: number;
};

/** The fields of a document may be many more than its text shows. An operation with more fields is forgotten again. */
const MAX_FIELDS = 1000;

const knownOperations = rememberEach(
  (_: GraphQLSchema) => new WeakMap<OperationDefinitionNode, KnownOperation>(),
);

const knownOperation = ({ schema, document, operation }: ValidatedExecutionArgs): KnownOperation => {
  const operations = knownOperations(schema);
  const known = operations.get(operation);
  if (known) return known;
  const added = { conditions: conditionsIn(document), byConditions: new Map(), count: 0 };
  operations.set(operation, added);
  return added;
};

const conditionsIn = (document: DocumentNode): readonly string[] => {
  const names = new Set<string>();
  visit(document, {
    Directive: ({ arguments: args = [] }) => {
      for (const { value } of args) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
};

/** What an operation selects of each object that it meets. That is collected once per document. */
export class Selection {
  readonly operation: Below;
  readonly #args: ValidatedExecutionArgs;
  readonly #known: KnownOperation;
  #info: SelectionInfo | null = null;

  constructor(args: ValidatedExecutionArgs) {
    this.#args = args;
    this.#known = knownOperation(args);
    this.operation = this.#forConditions();
  }

  #forConditions(): Below {
    const { operation, variableValues } = this.#args;
    const { conditions, byConditions } = this.#known;
    const key = conditions.map((name) => String(variableValues.coerced[name])).join();
    const known = byConditions.get(key);
    if (known) return known;
    const below: Below = { nodes: [operation], fields: new Map() };
    byConditions.set(key, below);
    this.#count(1);
    return below;
  }

  /** Throws the error of a directive whose variable is null. */
  fieldsOf(type: GraphQLObjectType, below: Below): readonly Field[] {
    const known = below.fields.get(type);
    if (known) return known;
    const fields = this.#collect(type, below);
    below.fields.set(type, fields);
    this.#count(1 + fields.length);
    return fields;
  }

  #count(fields: number): void {
    const known = this.#known;
    known.count += fields;
    if (known.count <= MAX_FIELDS) return;
    known.byConditions.clear();
    known.count = 0;
  }

  #collect(parentType: GraphQLObjectType, below: Below): readonly Field[] {
    const { schema, variableValues, fragmentDefinitions } = this.#args;
    this.#info ??= { schema, variableValues, fragments: new Map(Object.entries(fragmentDefinitions)) };
    const sets = below.nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const fields: Field[] = [];
    for (const [key, nodes] of collectFields(this.#info, parentType, sets)) {
      const definition = schema.getField(parentType, nodes[0]?.name.value ?? '');
      if (!definition) continue;
      const output = outputOf(definition.type, { nodes, fields: new Map() });
      fields.push({ key, parentType, definition, nodes, output });
    }
    return fields;
  }
}

const outputOf = (given: GraphQLOutputType, below: Below): Output => {
  const isNonNull = isNonNullType(given);
  const type = getNullableType(given);
  if (isListType(type)) return { isNonNull, kind: 'list', items: outputOf(type.ofType, below) };
  if (isLeafType(type)) return { isNonNull, kind: 'leaf', type };
  if (isObjectType(type)) return { isNonNull, kind: 'object', type, below };
  return { isNonNull, kind: 'abstract', type, below };
};
