import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { Asset, ConsoleAssets } from './console.ts';
import { collectFiles } from './console-files.ts';

/** Makes what the console's page loads. It is a thread of its own, so that no request waits for it. */

const typeOf = (path: string): string => (path.endsWith('.css') ? 'text/css' : 'text/javascript');

const assetOf = (path: string, text: string): Asset => {
  const body = Buffer.from(text);
  return { type: `${typeOf(path)}; charset=utf-8`, body, gzip: gzipSync(body, { level: 9 }) };
};

const make = (): ConsoleAssets => {
  const { page, imports, preloads, files } = collectFiles();
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('base64url').slice(0, 16);
  const assets = new Map(files.map(([path, text]) => [path, assetOf(path, text)]));
  return { hash, page, imports: new Map(imports), preloads, assets };
};

parentPort?.postMessage(make());
