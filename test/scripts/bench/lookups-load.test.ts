import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { type Answer, openConnection } from '../../../scripts/bench/load/http-connection.ts';
import { AFTER, createRequestSequence, walletAt } from '../../../scripts/bench/load/requests.ts';
import { ABLATIONS, ablationTable } from '../../../scripts/bench/lookups/ablation.ts';
import { faultOf } from '../../../scripts/bench/lookups/answers.ts';
import { itemsOf, type ListName } from '../../../scripts/bench/lookups/items.ts';
import { workloadTable } from '../../../scripts/bench/lookups/tables.ts';
import { WORKLOADS } from '../../../scripts/bench/lookups/workloads.ts';

/** What the bench of lookups sends, and what it takes for an answer. */

/** A server that answers each request by these parts, one after the other. */
const serverOf = async (answer: (socket: Socket) => Promise<void> | void) => {
  const server = createServer((socket) => {
    socket.setNoDelay(true).on('data', () => void answer(socket));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
};

/** The answer that a connection has to a request, or its failure. */
const ask = (port: number): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const connection = openConnection(port, reject);
    connection.send(Buffer.from('POST / HTTP/1.1\r\n\r\n'), true, (answer) => {
      connection.close();
      resolve(answer);
    });
  });

const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world';
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n';

test.each([
  ['by its length', LENGTH],
  ['in chunks', CHUNKED],
])('an answer that comes %s is whole wherever it is cut', async (_title, text) => {
  for (let cut = 1; cut < text.length; cut += 1) {
    await using server = await serverOf(async (socket) => {
      socket.write(text.slice(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(text.slice(cut));
    });
    expect(await ask(server.port), `cut at ${cut}`).toEqual({ status: 200, text: 'hello world' });
  }
});

test('an answer that breaks off, and one that is no HTTP, fails', async () => {
  await using broken = await serverOf((socket) => void socket.end(LENGTH.slice(0, -1)));
  await expect(ask(broken.port)).rejects.toThrow('before its answer was whole');
  await using other = await serverOf((socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'));
  await expect(ask(other.port)).rejects.toThrow('Expected an answer with a length or in chunks');
});

const [w1] = WORKLOADS;
if (w1 === undefined) throw new TypeError('Expected a workload, got none.');

test('an answer with errors, and one that lacks items, is no right answer', () => {
  const answerOf = (count: number) => ({
    wallet: { transactions: { nodes: Array.from({ length: count }) } },
  });
  expect(faultOf(JSON.stringify({ data: answerOf(100) }), w1)).toBeNull();
  expect(faultOf(JSON.stringify({ data: answerOf(99) }), w1)).toBe(
    'expected 100 at wallet.transactions.nodes, got 99',
  );
  expect(faultOf(JSON.stringify({ data: null, errors: [{ message: 'no' }] }), w1)).toContain(
    '"message":"no"',
  );
});

const figures = { p50Ms: 1, p99Ms: 1, maxMs: 1, cpuMicros: 1, serverBusy: 1, loadBusy: 0 };

test('a workload that failed has no figures', () => {
  const results = [
    { subject: 'raw', server: 'raw', title: 'raw', rate: 500, failure: null, ...figures },
    {
      subject: 'yoga',
      server: 'yoga',
      title: 'wrong',
      rate: 777,
      failure: 'expected 100, got 99',
      ...figures,
    },
    { subject: 'cold', server: 'cold', title: 'right', rate: 250, failure: null, ...figures },
  ];
  const text = workloadTable({ name: 'W1', title: 'a page', results });
  expect(text).toContain('wrong failed: expected 100, got 99');
  expect(text).not.toContain('777');
  expect(text).toMatch(/right .* – +\| +0\.50 · 1\.00 \|/);
});

test('what an answer costs without a layer is a multiple of what it costs with all, round by round', () => {
  const roundOf = (noise: number) => [
    { cpuMicros: 100 * noise, rate: 200 / noise },
    ...ABLATIONS.map((_, way) => ({ cpuMicros: 100 * noise * (way + 1.5), rate: 100 / noise })),
  ];
  const text = ablationTable([{ name: 'W1 cold', costs: [1, 2, 4, 8, 16, 32].map(roundOf) }]);
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  expect(rows[2]).toEqual(['', 'whole', '800.0 µs', '']);
  expect(rows.slice(3).map(([, way]) => way)).toEqual(ABLATIONS);
  expect(rows[3]).toEqual(['', 'no-plans', '1.50 (1.50 to 1.50) · 0.50', '']);
  expect(rows[4]).toEqual(['', 'no-shared-answers', '2.50 (2.50 to 2.50) · 0.50', '']);
});

test('each request asks of another wallet, and a session of one, from where it has come to', () => {
  let wallet = 0;
  const requests = createRequestSequence({
    templates: [{ path: '/graphql', body: JSON.stringify({ a: walletAt(0), b: walletAt(1), after: AFTER }) }],
    pages: 2,
    start: 0,
    nextWallet: (count) => {
      wallet += count;
      return wallet;
    },
  });
  const sent = (): { a: string; b: string; after: string | null } => {
    const text = requests.next().toString();
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toContain(`content-length: ${body.length}`);
    return JSON.parse(body);
  };
  const first = sent();
  requests.continueAfter('{"data":{"pageInfo":{"endCursor":"here"}}}');
  const second = sent();
  const third = sent();
  expect(first).toMatchObject({ a: expect.stringMatching(/^0xa[0-9a-f]{39}$/), after: null });
  expect(first.b).not.toBe(first.a);
  expect(second).toEqual({ ...first, after: 'here' });
  expect([first.a, first.b]).not.toContain(third.a);
  expect(third.after).toBeNull();
});

test('the bodies have the sizes that the bench is about, and are the same in each run', () => {
  const of = (list: ListName, count: number, kind = {}) =>
    itemsOf(list, { wallet: 1, count, isDetailed: false, isLarge: false, ...kind });
  const bytesOf = (items: readonly string[]) => Buffer.byteLength(items.join(','));
  expect(bytesOf(of('transactions', 100)) / 1000).toBeCloseTo(155, -1);
  expect(bytesOf(of('collectibles', 250)) / 1000).toBeCloseTo(230, -1);
  expect(bytesOf(of('balances', 1000, { isDetailed: true })) / 1000).toBeCloseTo(395, -1);
  expect(bytesOf(of('activity', 100)) / 1000).toBeCloseTo(60, -1);
  expect(bytesOf(of('transactions', 100, { isLarge: true })) / 1_000_000).toBeCloseTo(5, 0);
  expect(of('transactions', 3)).toEqual(of('transactions', 5).slice(0, 3));
  const [decoded] = of('transactions', 1, { isDetailed: true });
  const { decoded: call, ...plain } = JSON.parse(decoded ?? '');
  expect(call.name).toBe('transfer');
  expect(plain.hash).toBe(JSON.parse(of('transactions', 1)[0] ?? '').hash);
});
