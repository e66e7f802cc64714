import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import process from 'node:process';
import { getSystemErrorMessage, parseArgs } from 'node:util';
import { type DocumentNode, GraphQLError, getOperationAST, parse, Source } from 'graphql';
import { z } from 'zod';
import { singleOperations } from '../graph/single-operations.ts';
import { schema } from '../schema.ts';
import { sha256 } from '../server/graphql/persisted-queries.ts';
import { TrustedDocumentsError, validationErrorsOf } from '../server/graphql/trusted-documents.ts';

/**
 * Writes a file for TRUSTED_DOCUMENTS to `--out` or stdout. From .graphql files, or folders of them, it takes each operation
 * with the fragments that it uses, whichever file they are in. From Relay's persisted queries (.json) it takes each text as
 * it is. Stderr lists the hash and the name of each operation. If there are problems, each names its path, and nothing is
 * written.
 */

type Entry = {
  readonly text: string;
  /** The files that it was found in, comma-separated. */
  readonly from: string;
};

const fail = (...problems: string[]): never => {
  throw new TrustedDocumentsError(problems);
};

const isSystemError = (error: unknown): error is { readonly errno: number } =>
  error instanceof Error && 'errno' in error && typeof error.errno === 'number';

const at = <Value>(path: string, work: Promise<Value>): Promise<Value> =>
  work.catch((error: unknown) => {
    if (!isSystemError(error)) throw error;
    return fail(`${path}: ${getSystemErrorMessage(error.errno)}`);
  });

const filesIn = async (path: string): Promise<string[]> => {
  if (!(await at(path, stat(path))).isDirectory()) return [normalize(path)];
  const entries = await at(path, readdir(path, { recursive: true }));
  return entries
    .filter((entry) => ['.graphql', '.gql'].includes(extname(entry)))
    .sort()
    .map((entry) => join(path, entry));
};

const persisted = z.record(z.string(), z.string());

const persistedIn = (path: string, json: string): Entry[] => {
  try {
    return Object.values(persisted.parse(JSON.parse(json))).map((text) => ({ text, from: path }));
  } catch {
    return fail(`${path}: expected a JSON object of documents, got something else`);
  }
};

const readEntries = async (paths: Iterable<string>): Promise<Entry[]> => {
  const entries: Entry[] = [];
  const files: DocumentNode[] = [];
  for (const path of paths) {
    const content = await at(path, readFile(path, 'utf8'));
    if (extname(path) === '.json') entries.push(...persistedIn(path, content));
    else files.push(parse(new Source(content, path)));
  }
  return [...entries, ...singleOperations(files)];
};

const trust = async (paths: readonly string[], out: string | undefined): Promise<void> => {
  if (paths.length === 0) fail('expected files or folders of documents, got none');
  const files = new Set((await Promise.all(paths.map(filesIn))).flat());
  const entries = await readEntries(files);
  if (entries.length === 0) fail(`${paths.join(', ')}: expected operations, got none`);
  const problems = entries.flatMap(({ text, from }) =>
    validationErrorsOf(text, schema).map(({ message }) => `${from}: ${message}`),
  );
  if (problems.length > 0) fail(...problems);
  const hashed = entries.map(({ text }): [string, string] => [sha256(text), text]);
  const json = `${JSON.stringify(Object.fromEntries(hashed.toSorted()), null, 2)}\n`;
  if (out === undefined) process.stdout.write(json);
  else await at(out, writeFile(out, json));
  for (const [hash, text] of hashed)
    process.stderr.write(`${hash} ${getOperationAST(parse(text))?.name?.value ?? '(no name)'}\n`);
};

const isForTheUser = (error: unknown): boolean =>
  error instanceof TrustedDocumentsError ||
  error instanceof GraphQLError ||
  (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));

const USAGE = 'Usage: npm run trust -- <file or folder>... [--out <file>]';

try {
  const options = { out: { type: 'string' }, help: { type: 'boolean' } } as const;
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  if (values.help) process.stdout.write(`${USAGE}\n`);
  else await trust(positionals, values.out);
} catch (error) {
  if (!isForTheUser(error)) throw error;
  const problem = error instanceof GraphQLError ? error : (error as Error).message;
  process.stderr.write(error instanceof TypeError ? `${problem}. ${USAGE}\n` : `${problem}\n`);
  process.exitCode = 1;
}
