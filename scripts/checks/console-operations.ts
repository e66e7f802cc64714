import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { codegen } from '@graphql-codegen/core';
import * as operationTypes from '@graphql-codegen/typescript-operations';
import { buildSchema, getOperationAST, OperationTypeNode, parse } from 'graphql';
import { generator, ROOT } from './generated.ts';

/**
 * Writes the types and the texts of the console's operations, from its .graphql documents and schema.graphql. The texts are
 * those that `npm run trust` accepts, with their hashes.
 */

const save = generator('console:operations');
const OPERATIONS = `${ROOT}src/console/operations`;
const FILE = 'src/console/__generated__/operations.ts';

const types = async (): Promise<string> => {
  const schema = readFileSync(`${ROOT}schema.graphql`, 'utf8');
  return codegen({
    filename: FILE,
    schema: parse(schema),
    schemaAst: buildSchema(schema),
    documents: readdirSync(OPERATIONS)
      .sort()
      .map((location) => ({
        location,
        document: parse(readFileSync(`${OPERATIONS}/${location}`, 'utf8')),
      })),
    config: {
      enumType: 'string-literal',
      immutableTypes: true,
      scalars: {
        ...{ Address: 'string', BigInt: 'string', ChainId: 'number', DateTime: 'string', Decimal: 'string' },
        ...{ Hex: 'string', JSON: 'unknown', URL: 'string', UUID: 'string' },
      },
    },
    plugins: [{ types: {} }],
    pluginMap: { types: operationTypes },
  });
};

const SUFFIX = {
  [OperationTypeNode.QUERY]: 'Query',
  [OperationTypeNode.MUTATION]: 'Mutation',
  [OperationTypeNode.SUBSCRIPTION]: 'Subscription',
};

const documents = (): string[] => {
  const trust = ['src/cli/persist-documents.ts', OPERATIONS];
  const trusted: Record<string, string> = JSON.parse(
    execFileSync(process.execPath, trust, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  return Object.entries(trusted)
    .map(([hash, text]) => {
      const operation = getOperationAST(parse(text));
      const name = operation?.name?.value ?? '';
      const type = `${name}${SUFFIX[operation?.operation ?? OperationTypeNode.QUERY]}`;
      return `export const ${name}: Operation<${type}, ${type}Variables> = {
  name: '${name}',
  hash: '${hash}',
  text: \`${text}\`,
};`;
    })
    .sort();
};

await save(
  FILE,
  `/* Written by \`npm run console:operations\` from the documents in src/console/operations. */

/** A document of one operation, with the types of its answer and of its variables. */
export type Operation<Data, Variables> = {
  readonly name: string;
  /** The SHA-256 of the text in hex, by which a gateway with trusted documents knows it. */
  readonly hash: string;
  readonly text: string;
  readonly types?: (variables: Variables) => Data;
};

${await types()}
${documents().join('\n\n')}
`,
);
