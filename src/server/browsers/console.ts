import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import Negotiator from 'negotiator';
import { shareResult } from '../../lib/memo.ts';

/** Answers requests for the console's page and its files. Resolves to false, without answering, for any other path. */
export type Console = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>;

const CONSOLE_PATH = '/console/';

const FOR_EVER = 'public, max-age=31536000, immutable';

type Made = {
  readonly files: ConsoleAssets;
  readonly page: Asset;
  readonly policy: string;
  readonly path: string;
};

/** All gateways of a process have the same files. */
const readAssets = shareResult(() => makeConsoleAssets());

const make = async (settings: ConsoleSettings): Promise<Made> => {
  const files = await readAssets();
  const path = `${CONSOLE_PATH}${files.hash}/`;
  const { html, policy } = consolePage(files, path, settings);
  const body = Buffer.from(html);
  return { files, page: { type: 'text/html; charset=utf-8', body, gzip: gzipSync(body) }, policy, path };
};

const sendAsset = (
  request: IncomingMessage,
  response: ServerResponse,
  asset: Asset,
  headers: Readonly<Record<string, string>>,
): void => {
  const compressed = new Negotiator(request).encoding(['gzip', 'identity']) === 'gzip';
  response.writeHead(200, {
    'content-type': asset.type,
    ...headers,
    vary: 'accept-encoding',
    'content-length': compressed ? asset.gzip.byteLength : asset.body.byteLength,
    ...(compressed ? { 'content-encoding': 'gzip' } : {}),
  });
  response.end(compressed ? asset.gzip : asset.body);
};

/**
 * Serves the console. Its files are made when it is first opened, and are kept by the name of their contents: another
 * release has other names, so that a browser may keep each file for ever.
 */
export const createConsole = (settings: ConsoleSettings): Console => {
  let made: Made | null = null;

  return async (request, response, path) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const isPage = path === '/' && (request.headers.accept ?? '').includes('text/html');
    if (!isPage && !path.startsWith(CONSOLE_PATH)) return false;
    made ??= await make(settings);
    const { files, page, policy, path: prefix } = made;
    if (isPage) {
      sendAsset(request, response, page, { 'content-security-policy': policy });
      return true;
    }
    const asset = path.startsWith(prefix) ? files.assets.get(path.slice(prefix.length)) : undefined;
    if (asset === undefined) return false;
    sendAsset(request, response, asset, { 'cache-control': FOR_EVER });
    return true;
  };
};

/** What the page has to know before its first request. None of it is secret. */
type ConsoleSettings = {
  readonly auth: 'open' | 'key' | 'jwt';
  /** The header in which a client sends its own key. */
  readonly keyHeader: string;
  /** Whether only trusted documents run, each by its hash. */
  readonly trustedDocuments: boolean;
  readonly graphiql: boolean;
  /** Whether the page may load collectibles' pictures from any host. */
  readonly images: boolean;
  /** The origin of the sandbox's pictures, which is http; null over a real service. */
  readonly sandboxOrigin: string | null;
  /** Whether the service is on the gateway's machine, and so reaches the gateway by a loopback address. */
  readonly isServiceLocal: boolean;
  /** The sandbox's wallets; none over a real service. */
  readonly wallets: readonly { readonly name: string; readonly address: string; readonly shows: string }[];
};

type ConsolePage = { readonly html: string; readonly policy: string };

/** JSON that can't end the script element around it. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/**
 * The page and its content security policy: only scripts and styles of this gateway, and no other host except for pictures.
 */
const consolePage = (made: ConsoleAssets, path: string, settings: ConsoleSettings): ConsolePage => {
  const urls = [...made.assets.keys()].map((file) => `${path}${file}`);
  const importMap = inScript({
    imports: Object.fromEntries([...made.imports].map(([name, file]) => [name, `${path}${file}`])),
  });
  const head = [
    ...urls.filter((url) => url.endsWith('.css')).map((url) => `<link rel="stylesheet" href="${url}">`),
    `<script type="importmap">${importMap}</script>`,
    ...made.preloads.map((file) => `<link rel="modulepreload" href="${path}${file}">`),
    `<script type="application/json" id="settings">${inScript(settings)}</script>`,
    `<script type="module" src="${path}app.ts"></script>`,
  ];
  const hash = createHash('sha256').update(importMap).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    `img-src 'self' data:${settings.images ? ` https: ${settings.sandboxOrigin ?? ''}` : ''}`.trimEnd(),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return { html: made.page.replace('<!-- head -->', () => head.join('\n')), policy: policy.join('; ') };
};

/** A file that the console's page loads. */
export type Asset = { readonly type: string; readonly body: Uint8Array; readonly gzip: Uint8Array };

export type ConsoleAssets = {
  /** Names the contents of all files, so that a browser may keep them for ever. */
  readonly hash: string;
  /** The page's HTML, with the place for its head and its settings. */
  readonly page: string;
  /** The path of each library, by the name under which modules import it. */
  readonly imports: ReadonlyMap<string, string>;
  /** The modules that the page loads at once. */
  readonly preloads: readonly string[];
  readonly assets: ReadonlyMap<string, Asset>;
};

const WORKER = new URL('./console-assets-worker.ts', import.meta.url);

/** Node warns that stripping types is experimental, with a line among the log's that is not JSON. */
const FLAGS = ['--disable-warning=ExperimentalWarning'];

/** Makes the console's files in a thread of its own, which takes a few tenths of a second. Rejects when one can't be read. */
const makeConsoleAssets = async (): Promise<ConsoleAssets> => {
  const worker = new Worker(WORKER, { execArgv: FLAGS });
  try {
    const [assets] = await once(worker, 'message');
    return assets;
  } finally {
    await worker.terminate();
  }
};
