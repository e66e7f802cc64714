import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { Asset, ConsoleAssets } from './console.ts';

/**
 * Makes what the console's page loads: its modules, without their types, its styles, and the libraries that they import.
 * It is a thread of its own, so that no request waits for it.
 */

const FOLDER = new URL('../../console/', import.meta.url);

/** The libraries, as the console's modules name them. */
const LIBRARIES = ['preact', 'preact/hooks', 'htm', 'graphql-ws/client'];

const typeOf = (path: string): string => (path.endsWith('.css') ? 'text/css' : 'text/javascript');

const assetOf = (path: string, text: string): Asset => {
  const body = Buffer.from(text);
  return { type: `${typeOf(path)}; charset=utf-8`, body, gzip: gzipSync(body, { level: 9 }) };
};

const ownFiles = (): Map<string, string> => {
  const files = new Map<string, string>();
  for (const path of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!/\.(ts|css)$/.test(path)) continue;
    const text = readFileSync(new URL(path, FOLDER), 'utf8');
    files.set(path, path.endsWith('.ts') ? stripTypeScriptTypes(text) : text);
  }
  return files;
};

const RELATIVE_IMPORT = /\b(?:from|import)\s*['"](\.[^'"]+)['"]/g;

/** Adds a library's module, and those that it imports by a relative path, without the comments that name source maps. */
const addLibrary = (files: Map<string, string>, path: string, url: URL): void => {
  if (files.has(path)) return;
  const text = readFileSync(url, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
  files.set(path, text);
  for (const [, to = ''] of text.matchAll(RELATIVE_IMPORT))
    addLibrary(files, posix.join(posix.dirname(path), to), new URL(to, url));
};

const pathOfLibrary = (name: string): string => {
  const url = import.meta.resolve(name);
  return url.slice(url.lastIndexOf('/node_modules/') + 1);
};

const make = (): ConsoleAssets => {
  const files = ownFiles();
  const imports = new Map<string, string>();
  for (const name of LIBRARIES) {
    const path = pathOfLibrary(name);
    imports.set(name, path);
    addLibrary(files, path, new URL(import.meta.resolve(name)));
  }
  const page = readFileSync(fileURLToPath(new URL('index.html', FOLDER)), 'utf8');
  const hash = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('base64url')
    .slice(0, 16);
  const assets = new Map([...files].map(([path, text]) => [path, assetOf(path, text)]));
  return { hash, page, imports, assets };
};

parentPort?.postMessage(make());
