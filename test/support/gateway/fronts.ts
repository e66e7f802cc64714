import { readFile } from 'node:fs/promises';
import { Agent, type RequestInit, fetch as undiciFetch } from 'undici';
import type { TestContext } from 'vitest';
import { certificateIn } from '../certificate.ts';
import { folderOf } from '../folder.ts';
import { freePort } from '../free-port.ts';
import { needNginx, startNginx } from './nginx.ts';

/** How a client reaches a gateway. */
export type Front = {
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  [Symbol.asyncDispose](): Promise<void>;
};

export type FrontName = 'the gateway itself' | 'nginx' | 'HTTP/2 by nginx';

export const FRONTS: readonly FrontName[] = ['the gateway itself', 'nginx', 'HTTP/2 by nginx'];

/** nginx as it is by default: it buffers what does not say otherwise, and compresses what it may. */
const serverOf = (listen: string, gateway: string): string => `
gzip on;
gzip_types *;
gzip_proxied any;
server {
  listen ${listen};
  location / {
    proxy_pass ${gateway};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    add_header x-seen-protocol $server_protocol always;
  }
}`;

/** Opens a way to the gateway at `url`. Skips the test where a program is missing. */
export const openFront = async (context: TestContext, name: FrontName, url: string): Promise<Front> => {
  if (name === 'the gateway itself') return { url, fetch, [Symbol.asyncDispose]: async () => {} };
  await needNginx(context);
  await using made = new AsyncDisposableStack();
  const port = await freePort();
  if (name === 'nginx') {
    made.use(await startNginx(port, serverOf(`127.0.0.1:${port}`, url)));
    const running = made.move();
    return {
      url: `http://127.0.0.1:${port}`,
      fetch,
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  }
  const folder = made.use(await folderOf({}));
  const { cert, key } = await certificateIn(context, folder);
  const certificate = `ssl_certificate ${cert};\nssl_certificate_key ${key};`;
  made.use(await startNginx(port, certificate + serverOf(`127.0.0.1:${port} ssl http2`, url)));
  const dispatcher = new Agent({ allowH2: true, connect: { ca: await readFile(cert, 'utf8') } });
  made.defer(() => dispatcher.destroy());
  const running = made.move();
  return {
    url: `https://127.0.0.1:${port}`,
    fetch: async (input, init) => {
      const response = await undiciFetch(String(input), { ...(init as RequestInit), dispatcher });
      const protocol = response.headers.get('x-seen-protocol');
      if (protocol !== 'HTTP/2.0') throw new Error(`Expected HTTP/2, got ${protocol}.`);
      return response as unknown as Response;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
