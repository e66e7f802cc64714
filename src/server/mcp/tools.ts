import {
  type DocumentNode,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { isOperation } from '../../graph/document-limits.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import { inputSchemaOf, type ObjectSchema } from './input-schema.ts';

/** An operation of a trusted document, as agents see and call it. */
export type Tool = {
  /** The operation's name. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly isMutation: boolean;
  /** The names of its variables. */
  readonly variables: readonly string[];
  /** The text of its document. */
  readonly document: string;
};

/** Tools by their names, in the order of their documents. */
export type Tools = ReadonlyMap<string, Tool>;

/** The trusted documents can't be the tools that are asked for. It lists every problem. */
export class ToolsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ToolsError';
    this.problems = problems;
  }
}

/**
 * Makes tools of the operations of trusted documents: of those that `names` lists, which may be mutations, or of all queries
 * with a name if it is null. It lets other work run in between. Rejects with ToolsError. The documents are expected to be
 * valid.
 */
export const createTools = async (
  documents: Iterable<string>,
  names: readonly string[] | null,
  schema: GraphQLSchema,
): Promise<Tools> => {
  const slices = createTimeSlices();
  const operations: Found[] = [];
  for (const document of documents) {
    if (slices.isOver()) await slices.next();
    operations.push(...operationsIn(document));
  }
  const byName = Map.groupBy(operations, ({ name }) => name);
  const chosen =
    names ?? [...byName].flatMap(([name, [first]]) => (first && first.type === 'query' ? [name] : []));
  const problems = chosen.flatMap((name) => problemsOf(name, byName) ?? []);
  if (chosen.length === 0) problems.push('MCP: expected a query with a name in TRUSTED_DOCUMENTS, got none');
  if (problems.length > 0) throw new ToolsError(problems);
  const tools = new Map<string, Tool>();
  for (const found of chosen.flatMap((name) => byName.get(name) ?? [])) {
    if (slices.isOver()) await slices.next();
    tools.set(found.name, toolOf(found, schema));
  }
  return tools;
};

/** An operation with a name, and the document that it is in. */
type Found = {
  readonly name: string;
  readonly type: OperationDefinitionNode['operation'];
  readonly node: OperationDefinitionNode;
  readonly parsed: DocumentNode;
  readonly document: string;
};

const operationsIn = (document: string): Found[] => {
  const parsed = parse(document);
  return parsed.definitions.filter(isOperation).flatMap((node) => {
    const { name, operation: type } = node;
    return name ? [{ name: name.value, type, node, parsed, document }] : [];
  });
};

const problemsOf = (name: string, byName: ReadonlyMap<string, readonly Found[]>): string | null => {
  const [found, ...namesakes] = byName.get(name) ?? [];
  if (found === undefined)
    return `MCP: expected names of operations in TRUSTED_DOCUMENTS (${[...byName.keys()].join(', ')}), got ${name}`;
  if (namesakes.length > 0)
    return `MCP: expected names that one operation of TRUSTED_DOCUMENTS has, got ${name}, which ${namesakes.length + 1} have`;
  if (found.type === 'subscription')
    return `MCP: expected queries and mutations, got the subscription ${name}`;
  return null;
};

const toolOf = ({ name, type, node, parsed, document }: Found, schema: GraphQLSchema): Tool => {
  // What a variable is passed to may be in a fragment.
  const own = separateOperations(parsed)[name] ?? parsed;
  const usage = describeUsage(own, schema);
  return {
    name,
    description: node.description?.value ?? usage.fields.join('\n'),
    inputSchema: inputSchemaOf(node, usage.variables, schema),
    isMutation: type === 'mutation',
    variables: (node.variableDefinitions ?? []).map(({ variable }) => variable.name.value),
    document,
  };
};

/** What the schema says of the root fields of an operation, and of what each variable is first passed to. */
const describeUsage = (document: DocumentNode, schema: GraphQLSchema) => {
  const fields = new Set<string>();
  const variables = new Map<string, string>();
  const types = new TypeInfo(schema);
  const roots: readonly unknown[] = [schema.getQueryType(), schema.getMutationType()];
  visit(
    document,
    visitWithTypeInfo(types, {
      Field() {
        const { name, description } = types.getFieldDef() ?? {};
        if (description && roots.includes(types.getParentType())) fields.add(`${name}: ${description}`);
      },
      Variable({ name: { value: name } }, _key, parent) {
        if (variables.has(name)) return;
        const object = getNullableType(types.getParentInputType());
        const isField = parent !== undefined && 'kind' in parent && parent.kind === Kind.OBJECT_FIELD;
        const target =
          isField && isInputObjectType(object) ? object.getFields()[parent.name.value] : types.getArgument();
        if (target?.description) variables.set(name, target.description);
      },
    }),
  );
  return { fields: [...fields], variables };
};
