import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCommandLine } from '../command-line.ts';

/**
 * Writes what a package has and a checkout has not: dist/ and npm-shrinkwrap.json. dist/ is src/ as JavaScript. Node runs
 * src/ itself in a checkout, but strips no types below node_modules. The types become spaces, as they do when Node strips
 * them, so a stack trace names the lines of src/.
 */

parseCommandLine('Usage: npm run build', {});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FROM = join(ROOT, 'src');
const TO = join(ROOT, 'dist');

/** What a program names another module by: in an import, or in the URL of a worker's. */
const MODULE = /(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g;

/** The gateway serves the console's modules to browsers, and strips them itself. */
const isServed = (path: string): boolean => path.startsWith('console/');

const isProgram = (path: string): boolean => path.endsWith('.ts') && !isServed(path);

/** Only checks read these. */
const isForChecks = (path: string): boolean => /(?:\.graphql|tsconfig\.json)$/.test(path);

await rm(TO, { recursive: true, force: true });
const entries = await readdir(FROM, { recursive: true, withFileTypes: true });
for (const entry of entries) {
  if (!entry.isFile()) continue;
  const source = join(entry.parentPath, entry.name);
  const path = source.slice(FROM.length + 1);
  if (isForChecks(path)) continue;
  const target = join(TO, isProgram(path) ? path.replace(/\.ts$/, '.js') : path);
  await mkdir(dirname(target), { recursive: true });
  if (!isProgram(path)) await cp(source, target);
  else {
    const stripped = stripTypeScriptTypes(await readFile(source, 'utf8'));
    await writeFile(target, stripped.replaceAll(MODULE, '$1$2.js$1'));
  }
}

// npm publishes no package-lock.json. It names no registry: see .npmrc.
await cp(join(ROOT, 'package-lock.json'), join(ROOT, 'npm-shrinkwrap.json'));
