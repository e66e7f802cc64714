import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { ReceivedBody } from '../../src/upstream/client/body.ts';
import { createUpstreamClient } from '../../src/upstream/client/client.ts';
import { requestScope } from '../support/upstream/request-scope.ts';

const KILOBYTE = 1024;

/** A client of an upstream that answers as `answer` does, and the number of requests and connections so far. */
const startClient = async (answer: (response: ServerResponse, number: number) => void) => {
  const made = new AsyncDisposableStack();
  const seen = { requests: 0, connections: 0 };
  const server = createServer((request, response) => {
    seen.requests += 1;
    response.on('error', () => {});
    request.resume().once('end', () => answer(response, seen.requests));
  });
  server.on('connection', () => {
    seen.connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  made.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = { timeoutMs: 60_000, connections: 1, perSecond: null };
  const client = createUpstreamClient({ url, keyHeader: 'X-Key', ...limits });
  made.defer(() => client.close());
  return { client, seen, [Symbol.asyncDispose]: () => made.disposeAsync() };
};

const request = { resource: 'thing', method: 'GET', path: ['thing'], cost: 1 } as const;

test('the bytes of a body arrive as they were sent, in the order of their chunks', async () => {
  const parts = [Buffer.from([0xff, 0x00]), Buffer.alloc(300 * KILOBYTE, 1), Buffer.from('é')];
  await using started = await startClient((response) => {
    for (const part of parts) response.write(part);
    response.end();
  });
  const whole = async (body: ReceivedBody) => Buffer.concat(body.chunks);
  const { body, bytes } = await started.client.read(request, whole, requestScope());
  expect(body.equals(Buffer.concat(parts))).toBe(true);
  expect(bytes).toBe(body.length);
});

test.each([
  ['freed', false],
  ['kept where they are shared with other gateways', true],
])('the bytes of a body that is parsed are %s', async (_what, isShared) => {
  await using started = await startClient((response) => response.end(Buffer.alloc(1000 * KILOBYTE, 1)));
  const chunksOf = async (body: ReceivedBody) => (isShared ? body.sharedChunks() : [...body.chunks]);
  const { body: chunks } = await started.client.read(request, chunksOf, requestScope());
  const kept = chunks.reduce((sum, { length }) => sum + length, 0);
  // A short read is left to the garbage collector: it may be in memory that others use.
  if (isShared) expect(kept).toBe(1000 * KILOBYTE);
  else expect(kept).toBeLessThan(100 * KILOBYTE);
});

test('an error while a body is parsed is passed on as it is, and is not retried', async () => {
  await using started = await startClient((response) => response.end('{}'));
  const failing = () => Promise.reject(new RangeError('a fault of the gateway'));
  await expect(started.client.read(request, failing, requestScope())).rejects.toThrow(RangeError);
  expect(started.seen).toEqual({ requests: 1, connections: 1 });
});

test('an error names the content type that upstream stated, without the key', async () => {
  const key = 'never-shown-4c1f9a';
  const escaped = key.replace('n', '\\u006e');
  await using started = await startClient((response) => {
    response.writeHead(200, { 'content-type': `text/plain; was=${key}; or=${escaped}; ${'x'.repeat(200)}` });
    response.end('no JSON');
  });
  const scope = { ...requestScope(), credential: { key, owner: 'gateway' } as const };
  const stated = `text/plain; was=[key]; or=[key]; ${'x'.repeat(200)}`.slice(0, 80);
  await expect(started.client.request(request, scope)).rejects.toThrow(
    `Expected JSON from upstream, got 7 characters of ${stated} that can't be parsed.`,
  );
});

test.each([
  ['short', 10, 1],
  ['of more than 64 KB', 200 * KILOBYTE, 2],
])('an ignored body that is %s succeeds, and the next request follows', async (_what, size, connections) => {
  await using started = await startClient((response) => response.end(Buffer.alloc(size)));
  const ignoring = { ...request, ignoresBody: true };
  for (const _turn of [1, 2]) {
    const { body, bytes } = await started.client.request(ignoring, requestScope());
    expect({ body, bytes }).toEqual({ body: null, bytes: 0 });
  }
  expect(started.seen).toEqual({ requests: 2, connections });
});

test('an ignored body that never ends costs its connection, not the request', async () => {
  await using started = await startClient((response, number) => {
    response.write('{');
    if (number > 1) response.end('}');
  });
  await started.client.request({ ...request, ignoresBody: true }, requestScope());
  const { body } = await started.client.request(request, requestScope());
  expect(body).toEqual({});
  expect(started.seen).toEqual({ requests: 2, connections: 2 });
});

test.each([
  ['short', 10, 1],
  ['of more than 64 KB', 1000 * KILOBYTE, 2],
])(
  'the body of an error that is %s is read as far as its message needs',
  async (_what, size, connections) => {
    await using started = await startClient((response) => {
      response.statusCode = 400;
      response.end('m'.repeat(size));
    });
    for (const _turn of [1, 2])
      await expect(started.client.request(request, requestScope())).rejects.toMatchObject({
        status: 400,
        serviceMessage: 'm'.repeat(Math.min(size, 500)),
      });
    expect(started.seen).toEqual({ requests: 2, connections });
  },
);

test('interim responses before the final one are skipped', async () => {
  await using started = await startClient((response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.end('{"final":true}');
  });
  expect((await started.client.request(request, requestScope())).body).toEqual({ final: true });
});
