import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, Source } from 'graphql';
import { singleOperations } from '../../graph/single-operations.ts';

const FOLDER = new URL('../../console/', import.meta.url);

/** The client package, which the console uses as other frontends do. */
const CLIENT = 'evm-graphql-gateway/client';

/** The libraries, as the console's modules name them. */
const LIBRARIES = ['preact', 'preact/hooks', 'htm', 'graphql-ws/client', CLIENT];

/** The module that declares the operations. Their texts are those that `npm run trust` accepts, with their hashes. */
export const OPERATIONS = '__generated__/operations.ts';

const operationsModule = (): string => {
  const folder = new URL('operations/', FOLDER);
  const sources = readdirSync(folder).map((path) =>
    parse(new Source(readFileSync(new URL(path, folder), 'utf8'), path)),
  );
  return singleOperations(sources)
    .map(({ name, text }) => {
      const hash = createHash('sha256').update(text).digest('hex');
      return `export const ${name} = ${JSON.stringify({ name, hash, text })};\n`;
    })
    .join('');
};

const scriptOf = (path: string, text: string): string =>
  path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;

const ownFiles = (): Map<string, string> => {
  const files = new Map<string, string>();
  for (const path of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!/\.(ts|css)$/.test(path) || path === OPERATIONS) continue;
    files.set(path, scriptOf(path, readFileSync(new URL(path, FOLDER), 'utf8')));
  }
  return files.set(OPERATIONS, operationsModule());
};

const RELATIVE_IMPORT = /\b(?:from|import)\s*['"](\.[^'"]+)['"]/g;

/** Adds a library's module, and those that it imports by a relative path, without the comments that name source maps. */
const addLibrary = (files: Map<string, string>, path: string, url: URL): void => {
  if (files.has(path)) return;
  const text = scriptOf(path, readFileSync(url, 'utf8')).replace(/^\/\/# sourceMappingURL=.*$/m, '');
  files.set(path, text);
  for (const [, to = ''] of text.matchAll(RELATIVE_IMPORT))
    addLibrary(files, posix.join(posix.dirname(path), to), new URL(to, url));
};

const pathOfLibrary = (name: string): string => {
  if (name === CLIENT) return 'client/index.ts';
  const url = import.meta.resolve(name);
  return url.slice(url.lastIndexOf('/node_modules/') + 1);
};

type ConsoleFiles = {
  /** The page's HTML. */
  readonly page: string;
  /** The path of each library, by the name under which modules import it. */
  readonly imports: readonly (readonly [name: string, path: string])[];
  /** The modules that the page loads at once. */
  readonly preloads: readonly string[];
  /** The text of each file that the page loads, by its path. */
  readonly files: readonly (readonly [path: string, text: string])[];
};

/** Collects the console's modules, without their types, its styles, and the libraries that they import. */
export const collectFiles = (): ConsoleFiles => {
  const files = ownFiles();
  const imports = LIBRARIES.map((name) => [name, pathOfLibrary(name)] as const);
  for (const [name, path] of imports) addLibrary(files, path, new URL(import.meta.resolve(name)));
  const page = readFileSync(fileURLToPath(new URL('index.html', FOLDER)), 'utf8');
  const preloads = [...files.keys()].filter((path) => !path.endsWith('.css'));
  return { page, imports, preloads, files: [...files] };
};
