// The limit: a node:http server that passes upstream's bytes on by undici, with nothing parsed. The path of the request is
// upstream's; several of them, divided by semicolons, are fetched at once and written one after the other. The body of
// the request is a GraphQL client's, which is read and dropped.
import { createServer, type ServerResponse } from 'node:http';
import process from 'node:process';
import { Pool } from 'undici';
import { announce } from '../../harness/processes.ts';

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

const send = (response: ServerResponse, chunks: readonly Buffer[]): void => {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': length });
  response.cork();
  for (const chunk of chunks) response.write(chunk);
  response.end();
  response.uncork();
};

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const { url = '/' } = request;
    if (url === '/') return send(response, [EMPTY]);
    Promise.all(url.split(';').map(fetchBytes)).then(
      (answers) => send(response, answers.flat()),
      (error: unknown) => response.writeHead(502).end(String(error)),
    );
  });
});
announce(server);
