import type { IncomingHttpHeaders, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** The answer of a receiver: a status, or none. */
export type Answer = number | 'never' | 'hang up';

export type Receiver = AsyncDisposable & {
  readonly url: string;
  readonly received: readonly Received[];
  /** Requests that wait for an answer, and have not been aborted. */
  open(): number;
  /** Resolves with all requests once there are `count`; fails after five seconds. */
  until(count: number): Promise<readonly Received[]>;
};

const listen = async (server: Server, port: number): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** A webhook's destination on a real socket, by default on a free port. Its answer depends on the request's number, from 0. */
export const startReceiver = async (
  answer: (index: number, received: Received) => Answer = () => 200,
  port = 0,
): Promise<Receiver> => {
  const received: Received[] = [];
  const open = new Set<unknown>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    open.add(response);
    response.on('close', () => open.delete(response));
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(one);
      const status = answer(received.length - 1, one);
      if (status === 'hang up') request.socket.destroy();
      else if (status !== 'never') response.writeHead(status).end('ok');
    });
  });
  const url = await listen(server, port);
  return {
    url,
    received,
    open: () => open.size,
    async until(count) {
      await eventually(() => received.length >= count, `${count} deliveries, got ${received.length}`);
      return received;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** Waits until a condition holds; fails after five seconds, with the condition's name. */
export const eventually = async (condition: () => boolean, expected = 'the condition'): Promise<void> => {
  const deadline = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`expected ${expected}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
