import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Asset, type ConsoleAssets, makeConsoleAssets } from './assets.ts';
import { type ConsolePage, type ConsoleSettings, consolePage } from './page.ts';

/** Answers for the console's page and its files. Resolves to false, without answering, where a path is neither. */
export type Console = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>;

const CONSOLE_PATH = '/console/';

const FOR_EVER = 'public, max-age=31536000, immutable';

type Made = { readonly files: ConsoleAssets; readonly page: ConsolePage; readonly path: string };

const make = async (settings: ConsoleSettings): Promise<Made> => {
  const files = await makeConsoleAssets();
  const path = `${CONSOLE_PATH}${files.hash}/`;
  return { files, page: consolePage(files, path, settings), path };
};

const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(headers['accept-encoding'] ?? ''));

const sendAsset = (request: IncomingMessage, response: ServerResponse, asset: Asset): void => {
  const compressed = acceptsGzip(request);
  response.writeHead(200, {
    'content-type': asset.type,
    'cache-control': FOR_EVER,
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
  let made: Promise<Made> | null = null;
  const ready = (): Promise<Made> => {
    made ??= make(settings).catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };

  return async (request, response, path) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const isPage = path === '/' && (request.headers.accept ?? '').includes('text/html');
    if (!isPage && !path.startsWith(CONSOLE_PATH)) return false;
    const { files, page, path: prefix } = await ready();
    if (isPage) {
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': page.policy,
      });
      response.end(page.html);
      return true;
    }
    const asset = path.startsWith(prefix) ? files.assets.get(path.slice(prefix.length)) : undefined;
    if (asset === undefined) return false;
    sendAsset(request, response, asset);
    return true;
  };
};
