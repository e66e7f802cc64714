import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect } from 'vitest';
import type { WebhookType } from '../../../../src/backend/dispatch/webhook.ts';
import type { ServiceConfig } from '../../../../src/backend/indexer/config.ts';
import { startIndexed } from '../../../../src/backend/indexer/indexer.ts';
import { PROGRAM, spawnProgram } from '../../../support/gateway/spawn.ts';
import type { Json } from '../../support/sandbox.ts';

export const API_KEY = 'key-of-the-index';

/** A client of a service over an index. */
const serviceClient = (url: string) => {
  const ask = async (path: string, init: RequestInit = {}): Promise<{ status: number; json: Json }> => {
    const headers = { 'x-service-api-key': API_KEY, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const text = await response.text();
    return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : { text } };
  };
  return {
    ask,
    /** Creates a webhook and resolves to its id. */
    async subscribe(type: WebhookType, to: string, addresses: readonly string[]): Promise<string> {
      const body = JSON.stringify({ type, url: to, addresses, name: type });
      const { json } = await ask('/beta/evm/subscriptions/webhooks', { method: 'POST', body });
      return String(json.id);
    },
    /** What the service says of how far it is, of each chain. */
    async progress(): Promise<readonly Json[]> {
      const { json } = await ask('/v1/evm/supported-chains');
      return (json.chains as readonly Json[]).map(({ chain_id, index }) => ({
        chain_id,
        ...(index as Json),
      }));
    },
    /** Resolves when all of a chain is indexed up to a block. */
    async indexed(block: number, chainId = 31_337): Promise<void> {
      await expect
        .poll(() => this.progress())
        .toContainEqual(expect.objectContaining({ chain_id: chainId, indexedTo: block, indexedFrom: 0 }));
    },
    /** Resolves when that is so, and all blocks are traced. */
    async traced(block: number, chainId = 31_337): Promise<void> {
      await this.indexed(block, chainId);
      await expect
        .poll(async () => (await this.progress()).find(({ chain_id }) => chain_id === chainId)?.traces)
        .toEqual({ behind: 0, problem: null });
    },
  };
};

type Options = Partial<ServiceConfig> & Pick<ServiceConfig, 'chains'>;

/** The service over an index, as it is embedded, with a client. Without a folder it has one of its own. */
export const openIndexed = async (options: Options) => {
  await using made = new AsyncDisposableStack();
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'indexed-')));
  if (options.directory === undefined) made.defer(() => rm(directory, { recursive: true, force: true }));
  const lines: { message: string; details: Json }[] = [];
  const service = await startIndexed({
    directory,
    abiDirectory: null,
    metadata: null,
    prices: null,
    host: '127.0.0.1',
    port: 0,
    apiKey: API_KEY,
    keyHeader: 'X-Service-Api-Key',
    signatureSecret: null,
    log: (message, details) => lines.push({ message, details }),
    ...options,
  });
  made.defer(() => service.stop());
  service.follow();
  const running = made.move();
  return {
    ...serviceClient(service.url),
    url: service.url,
    directory,
    lines,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** The service as it is shipped, in a process of its own. */
export const spawnIndexed = async (nodeUrl: string, directory: string, port: number) => {
  const service = await spawnProgram(['node_modules/.bin/node', PROGRAM, 'service'], {
    cwd: process.cwd(),
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      CHAINS: `31337=${nodeUrl}`,
      INDEX_DIR: directory,
      API_KEY,
      PORT: String(port),
    },
  });
  return { ...service, ...serviceClient(service.url) };
};
