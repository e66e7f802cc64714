// The limit: a node:http server that passes upstream's bytes on by undici, with nothing parsed. The path of the request is
// upstream's; several of them, divided by semicolons, are fetched at once and written one after the other. The body of
// the request is a GraphQL client's, which is read and dropped.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { Pool } from 'undici';

const JSON_TYPE = 'application/json';
const EMPTY = Buffer.from('{"data":{"__typename":"Query"}}');

const pool = new Pool(process.env.UPSTREAM_URL ?? '', { connections: 128 });
const headers = { accept: JSON_TYPE, 'x-service-api-key': process.env.UPSTREAM_API_KEY ?? '' };

/** The chunks of upstream's answer to a path. */
const fetchBytes = (path: string): Promise<readonly Buffer[]> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    pool.dispatch(
      { path, method: 'GET', headers },
      {
        onRequestStart() {},
        onResponseStart: (_controller, status) => {
          if (status !== 200) throw new Error(`Expected 200 of upstream, got ${status}.`);
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve(chunks),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });

const bytesOf = async (url: string): Promise<readonly Buffer[]> => {
  if (url === '/') return [EMPTY];
  const paths = url.split(';');
  if (paths.length === 1) return fetchBytes(url);
  return (await Promise.all(paths.map(fetchBytes))).flat();
};

const send = (response: ServerResponse, chunks: readonly Buffer[]): void => {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': length });
  response.cork();
  for (const chunk of chunks) response.write(chunk);
  response.end();
  response.uncork();
};

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  request.resume().on('end', () => {
    bytesOf(request.url ?? '/').then(
      (chunks) => send(response, chunks),
      (error: unknown) => response.writeHead(502).end(String(error)),
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stderr.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
});
