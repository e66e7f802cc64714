import { execFile } from 'node:child_process';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Plugin, rolldown } from 'rolldown';
import { collectFiles, OPERATIONS } from '../../src/server/browsers/console-files.ts';
import { parseCommandLine } from '../command-line.ts';

/**
 * Writes dist/, or the folder that --to names: the program of a package, and the client package. It is src/ and all that it imports, as a few files
 * of JavaScript that need no node_modules. What is loaded on demand is a chunk of its own. Source maps name the lines of src/ in stack traces.
 */

const { values } = parseCommandLine('Usage: npm run build [-- --to FOLDER]', {
  options: { to: { type: 'string', default: 'dist' } },
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FROM = join(ROOT, 'src');
const TO = resolve(ROOT, values.to);

/** The program, and those of its threads. */
const PROGRAMS = [
  'main.ts',
  'backend/indexer/index-thread.ts',
  'deliveries/sqlite/threads/writer-thread.ts',
  'deliveries/sqlite/threads/reader-thread.ts',
  'server/browsers/console-assets-worker.ts',
];

const nameOf = (path: string): string => basename(path, '.ts');

/** A file that a module names beside itself: a thread's program, WebAssembly, a script for Redis. */
const NEIGHBOUR = /new URL\((['"`])([^'"`]+)\1, import\.meta\.url\)/g;

/** Everything that is loaded is in one folder, so a module's neighbours are named from there. */
const neighbours: Plugin = {
  name: 'neighbours',
  transform: {
    filter: { id: new RegExp(`^${FROM}/`), code: 'import.meta.url' },
    handler: (code, id) => ({
      code: code.replaceAll(NEIGHBOUR, (_url, quote: string, name: string) => {
        const path = relative(FROM, join(dirname(id), name));
        return `new URL(${quote}./${PROGRAMS.includes(path) ? `${nameOf(path)}.js` : path}${quote}, import.meta.url)`;
      }),
      map: null,
    }),
  },
};

/** The console's libraries and the modules that its views share. */
const SHARED =
  /\/(?:preact|htm)\/|\/console\/(?:(?!app|sign-in)[^/]+|api\/(?!live-feed)[^/]+|__generated__\/[^/]+)\.ts$/;

/**
 * What the console's page loads is collected here, since a package has neither its sources nor its libraries. Its styles are
 * one file, and its modules a few: what the first view needs, and each other view when it is opened.
 */
const collectBundled = async () => {
  const { page, files } = collectFiles();
  const declared = [...(new Map(files).get(OPERATIONS) ?? '').matchAll(/^export const (\w+) = .*$/gm)];
  // Each operation is a module of its own, so that a view loads only those that it sends.
  const operations = new Map(declared.map(([code, name]) => [`operation:${name}`, code]));
  const imported = [...operations.keys()].map((id) => `export * from '${id}';`).join('\n');
  const modules = await rolldown({
    input: join(FROM, 'console/app.ts'),
    platform: 'browser',
    tsconfig: false,
    plugins: [
      {
        name: 'console-operations',
        resolveId: { filter: { id: /^operation:/ }, handler: (id) => id },
        load: {
          filter: { id: [/^operation:/, new RegExp(`/console/${OPERATIONS}$`)] },
          handler: (id) => ({ code: operations.get(id) ?? imported, moduleSideEffects: false }),
        },
      },
    ],
  });
  const { output } = await modules.generate({
    format: 'esm',
    minify: true,
    entryFileNames: 'app.ts',
    // What every view needs is one file beside the entry, and no file for each set of users.
    codeSplitting: { groups: [{ name: 'shared', test: SHARED }] },
  });
  await modules.close();
  const styles = files
    .filter(([path]) => path.endsWith('.css'))
    .map(([, text]) => text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s+/g, ' '));
  const chunks = output.filter((each) => each.type === 'chunk');
  return {
    page,
    imports: [],
    preloads: ['app.ts', ...(chunks.find(({ isEntry }) => isEntry)?.imports ?? [])],
    files: [['styles.css', styles.join('')], ...chunks.map(({ fileName, code }) => [fileName, code])],
  };
};

const consoleFiles: Plugin = {
  name: 'console-files',
  load: {
    filter: { id: /\/console-files\.ts$/ },
    handler: async () => `export const collectFiles = () => (${JSON.stringify(await collectBundled())});`,
  },
};

await rm(TO, { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries(PROGRAMS.map((path) => [nameOf(path), join(FROM, path)])),
  platform: 'node',
  // ws looks for these, and does without them.
  external: ['bufferutil', 'utf-8-validate'],
  plugins: [neighbours, consoleFiles],
});
const { output } = await bundle.write({
  dir: TO,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  sourcemap: true,
  sourcemapExcludeSources: true,
  comments: false,
  charset: 'ascii',
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  // The program and its threads load most of src/lib/, and gateways and the service over an index the same metrics, and
  // Yoga and the rest the same of GraphQL.js: as one file each they are read sooner than as a file for each set of users.
  codeSplitting: {
    groups: [
      { name: 'lib', test: new RegExp(`^${FROM}/lib/`) },
      {
        name: 'metrics',
        test: new RegExp(`^${FROM}/telemetry/(?:index-metrics|tallies|upstream-metrics)|/prom-client/lib/`),
      },
      { name: 'graphql', test: /\/node_modules\/graphql\// },
    ],
  },
});

await bundle.close();

for (const path of await readdir(FROM, { recursive: true }))
  if (/\.(?:lua|wasm)$/.test(path)) await cp(join(FROM, path), join(TO, path));

/** The client package: one module that a bundler takes apart, and its types beside it. */
const buildClient = async (): Promise<void> => {
  const entry = join(FROM, 'client/index.ts');
  const to = join(TO, 'client');
  const client = await rolldown({ input: entry, platform: 'neutral', tsconfig: false });
  const written = { format: 'esm', sourcemap: true, sourcemapExcludeSources: true } as const;
  await client.write({ file: join(to, 'index.js'), ...written });
  await client.close();
  const types = ['--declaration', '--emitDeclarationOnly', '--outDir', to, '--singleThreaded'];
  const language = ['--target', 'es2024', '--lib', 'es2024,dom,dom.iterable', '--types', ''];
  const modules = [
    '--module',
    'preserve',
    '--allowImportingTsExtensions',
    '--rewriteRelativeImportExtensions',
  ];
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  await promisify(execFile)(tsc, ['--ignoreConfig', '--strict', ...types, ...language, ...modules, entry]);
  for (const path of await readdir(to, { recursive: true })) {
    if (!path.endsWith('.d.ts')) continue;
    const text = await readFile(join(to, path), 'utf8');
    await writeFile(join(to, path), text.replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"));
  }
};

await buildClient();

/** The folder of the package that a module is of; null for one of src/. */
const packageOf = (id: string): string | null =>
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? null;

const licenceOf = async (folder: string): Promise<string> => {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : `\n\n${(await readFile(join(folder, file), 'utf8')).trim()}`;
  return `## ${name} ${version} (${license})${text}\n`;
};

const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
const packages = new Set(modules.map(packageOf).filter((folder) => folder !== null));
const licences = await Promise.all([...packages].toSorted().map(licenceOf));
await writeFile(join(TO, 'LICENSES.md'), `# Packages in this program\n\n${licences.join('\n')}`);
