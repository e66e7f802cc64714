import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';
import {
  buildSchema,
  type GraphQLObjectType,
  isAbstractType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
  parse,
} from 'graphql';
import { isOperation } from '../../src/graph/document-limits.ts';
import { singleOperations } from '../../src/graph/single-operations.ts';
import { generator, ROOT } from './generated.ts';
import { operationTypesOf } from './operation-types.ts';

/** Writes what src/client/ has of schema.graphql: its documents with their types, and what caches must know of the types. */

const save = generator('client');
const FOLDER = 'src/client/documents';
const WRITTEN = 'src/client/__generated__';
const COMMENT = '/* Written by `npm run client`. */';

const text = readFileSync(`${ROOT}schema.graphql`, 'utf8');
const schema = buildSchema(text);

const files = readdirSync(`${ROOT}${FOLDER}`).sort();
const sourceOf = (file: string): string => readFileSync(`${ROOT}${FOLDER}/${file}`, 'utf8');

/** The comment above each operation, by its name. */
const comments = new Map(
  files
    .flatMap((file) => [...sourceOf(file).matchAll(/# (.*)\n(?:query|mutation|subscription) (\w+)/g)])
    .map(([, comment = '', name = '']) => [name, comment]),
);

const sources = files.map((location) => ({
  location,
  document: parse(sourceOf(location), { noLocation: true }),
}));
const withTypenames = await addTypenameSelectionDocumentTransform.transform({
  documents: sources,
  schema: parse(text),
  config: {},
});
const documents = withTypenames.flatMap(({ location = '', document }) =>
  document ? [{ location, document }] : [],
);

const SUFFIX = {
  [OperationTypeNode.QUERY]: 'Query',
  [OperationTypeNode.MUTATION]: 'Mutation',
  [OperationTypeNode.SUBSCRIPTION]: 'Subscription',
};

const constantOf = ({ name = '', text: printed }: ReturnType<typeof singleOperations>[number]): string => {
  const { kind, definitions } = parse(printed, { noLocation: true });
  const operation = definitions.find(isOperation)?.operation ?? OperationTypeNode.QUERY;
  const type = `${name}${SUFFIX[operation]}`;
  const hash = createHash('sha256').update(printed).digest('hex');
  const value = JSON.stringify({ kind, definitions, text: printed, __meta__: { hash } });
  return `/** ${comments.get(name)} */
export const ${name} = ${value} as unknown as TypedDocument<${type}, ${type}Variables>;\n`;
};

const file = `${WRITTEN}/documents.ts`;
await save(
  file,
  `${COMMENT}

/**
 * A document with the types of its result and its variables. Apollo Client, urql and others take it as they take a \`TypedDocumentNode\`
 * of any version of graphql. \`text\` is for a plain request, and \`__meta__.hash\` its SHA-256 for trusted documents.
 */
export type TypedDocument<Result, Variables> = {
  /** An enum in graphql 16, and a text in graphql 17. */
  readonly kind: any;
  readonly definitions: readonly never[];
  readonly text: string;
  readonly __meta__: { readonly hash: string };
  readonly __apiType?: (variables: Variables) => Result;
};

${await operationTypesOf(file, text, documents)}
${singleOperations(documents.map(({ document }) => document))
  .map(constantOf)
  .join('\n')}`,
);

const types = Object.values(schema.getTypeMap())
  .filter((type): type is GraphQLObjectType => isObjectType(type) && !isIntrospectionType(type))
  .sort((one, other) => one.name.localeCompare(other.name));
const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];

const hasId = (type: GraphQLObjectType): boolean => isNonNullType(type.getFields().id?.type);
// Graphcache knows these names by itself.
const isOfAList = ({ name }: GraphQLObjectType): boolean => /(?:Connection|Edge|PageInfo)$/.test(name);

const withoutId = types.filter((type) => !roots.includes(type) && !hasId(type) && !isOfAList(type));

/** The lists that page forwards alone. What pages backwards, as deliveries do, is read by a component itself. */
const paged = types.flatMap((type) => {
  const fields = Object.values(type.getFields())
    .filter(
      ({ args }) => args.some(({ name }) => name === 'after') && !args.some(({ name }) => name === 'before'),
    )
    .map(({ name }) => name)
    .sort();
  return fields.length === 0 || type === schema.getSubscriptionType() ? [] : [[type.name, fields] as const];
});

const possible = Object.values(schema.getTypeMap())
  .filter((type) => isAbstractType(type))
  .map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)] as const);

await save(
  `${WRITTEN}/schema.ts`,
  `${COMMENT}

/** The types whose objects have no id. */
export const TYPES_WITHOUT_ID: readonly string[] = ${JSON.stringify(withoutId.map(({ name }) => name))};

/** The lists that page by \`first\` and \`after\`, by the type that has them. */
export const PAGED_FIELDS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(Object.fromEntries(paged))};

/** The types of each union and interface: what a fragment on it applies to. */
export const POSSIBLE_TYPES: Record<string, string[]> = ${JSON.stringify(Object.fromEntries(possible))};
`,
);
