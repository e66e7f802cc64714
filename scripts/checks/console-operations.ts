import { readdirSync, readFileSync } from 'node:fs';
import { OperationTypeNode, parse, print, visit } from 'graphql';
import { isOperation } from '../../src/graph/document-limits.ts';
import { generator, ROOT } from './generated.ts';
import { operationTypesOf } from './operation-types.ts';

/** Writes the types of the console's operations, from its .graphql documents and schema.graphql. */

const save = generator('console:operations');
const OPERATIONS = `${ROOT}src/console/operations`;
const FILE = 'src/console/__generated__/operations.ts';

const documents = readdirSync(OPERATIONS)
  .sort()
  .map((location) => ({ location, document: parse(readFileSync(`${OPERATIONS}/${location}`, 'utf8')) }));

/** What a type means is said in schema.graphql, and not once more beside its copy. */
const schema = visit(parse(readFileSync(`${ROOT}schema.graphql`, 'utf8')), {
  enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
});

const SUFFIX = {
  [OperationTypeNode.QUERY]: 'Query',
  [OperationTypeNode.MUTATION]: 'Mutation',
  [OperationTypeNode.SUBSCRIPTION]: 'Subscription',
};

/** A type in a line: a part that documents share is named, and not written out wherever it is read. */
const types = (await operationTypesOf(FILE, print(schema), documents, { inlineFragmentTypes: 'combine' }))
  .replaceAll(/\n(?=[ }])\s*/g, ' ')
  .replaceAll(/\n+/g, '\n');

const declarations = documents
  .flatMap(({ document }) => document.definitions.filter(isOperation))
  .map(({ name: { value: name = '' } = {}, operation }) => {
    const type = `${name}${SUFFIX[operation]}`;
    return `export declare const ${name}: Operation<${type}, ${type}Variables>;`;
  })
  .sort();

await save(
  FILE,
  `/* Written by \`npm run console:operations\` from the documents in src/console/operations. console-files.ts makes the values. */

/** A document of one operation, with the types of its answer and of its variables. */
export type Operation<Data, Variables> = {
  readonly name: string;
  /** The SHA-256 of the text in hex, by which a gateway with trusted documents knows it. */
  readonly hash: string;
  readonly text: string;
  readonly types?: (variables: Variables) => Data;
};

${types}
${declarations.join('\n')}
`,
);
