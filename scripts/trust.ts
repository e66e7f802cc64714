import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import process from 'node:process';
import {
  concatAST,
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  Source,
  separateOperations,
} from 'graphql';
import { schema } from '../src/schema.ts';
import {
  readTrustedDocuments,
  sha256,
  TrustedDocumentsError,
} from '../src/server/operations/trusted-documents.ts';

/**
 * Prints a file for TRUSTED_DOCUMENTS: of .graphql files or folders of them, each operation with the fragments that it
 * uses, whichever file they are in; of Relay's persisted queries (.json), each text as it is. Says on stderr which is which.
 */

const filesIn = async (path: string): Promise<string[]> => {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries
    .filter((entry) => ['.graphql', '.gql'].includes(extname(entry)))
    .map((entry) => join(path, entry));
};

const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode =>
  node.kind === Kind.FRAGMENT_DEFINITION;

const isOperation = (node: DefinitionNode): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION;

const textsOf = (files: readonly DocumentNode[]): string[] => {
  const { definitions } = concatAST(files);
  const fragments = definitions.filter(isFragment);
  const names = fragments.map(({ name }) => name.value);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice) throw new TrustedDocumentsError([`expected one fragment of each name, got two called ${twice}`]);
  return definitions.filter(isOperation).flatMap((operation) => {
    const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
    return Object.values(separateOperations(whole)).map(print);
  });
};

const readTexts = async (paths: readonly string[]): Promise<string[]> => {
  const texts: string[] = [];
  const files: DocumentNode[] = [];
  for (const path of paths) {
    const content = await readFile(path, 'utf8');
    if (extname(path) === '.json') texts.push(...Object.values<string>(JSON.parse(content)));
    else files.push(parse(new Source(content, path)));
  }
  return [...texts, ...textsOf(files)];
};

try {
  const paths = (await Promise.all(process.argv.slice(2).map(filesIn))).flat();
  const entries = (await readTexts(paths)).map((text): [string, string] => [sha256(text), text]);
  const json = `${JSON.stringify(Object.fromEntries(entries.sort()), null, 2)}\n`;
  readTrustedDocuments(json, schema);
  process.stdout.write(json);
  for (const [hash, text] of entries)
    process.stderr.write(`${hash} ${getOperationAST(parse(text))?.name?.value ?? '(no name)'}\n`);
} catch (error) {
  if (!(error instanceof TrustedDocumentsError || error instanceof GraphQLError)) throw error;
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
}
