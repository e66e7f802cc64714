import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UNSENT_TIMES } from '../../../src/server/http/unsent-limit.ts';
import { sleep } from '../../support/clients/queries.ts';
import { head, json } from '../../support/clients/raw-http.ts';
import { clientFrame, openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { overHttp } from '../../support/clients/transports.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The memory of unread answers is bounded. A client that reads, however slowly, gets its whole answer. */

const WALLET = addressOf(0xdead);
const items = history(100).map((item, index) => ({
  ...item,
  data: `0x${String(index).padStart(40_000, '0')}`,
}));
const PART = 'transactions(first: 100) { nodes { data } }';
/** Answered from one cached page. Each part has 4 MB, about what the operating system buffers of an unread answer. */
const answerOf = (parts: readonly string[]) =>
  `{ wallet(address: "${WALLET}") { ${parts.map((alias) => `${alias}: ${PART}`).join(' ')} } }`;
const BIG = answerOf(['a', 'b', 'c', 'd']);
const LESS = answerOf(['a', 'b']);
const IN_PARTS = `{ wallet(address: "${WALLET}") { id ${['a', 'b', 'c', 'd'].map((alias) => `... @defer { ${alias}: ${PART} }`).join(' ')} } }`;
const LESS_BYTES = 8_000_000;
/** All answers together would take 256 MB twice: as text, and as bytes. */
const MEGABYTES = 400;

const start = async () => {
  const shipped = await startGatewayProcess({ NODE_OPTIONS: '--max-old-space-size=300' });
  shipped.fake.transactions.set(WALLET, servingTransactions(items));
  return shipped;
};

const ask = (query: string, accept = 'application/json'): string => {
  const body = JSON.stringify({ query });
  return `${json(`content-length: ${body.length}`, `accept: ${accept}`)}${body}`;
};

const postOf = (query: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json' },
  body: JSON.stringify({ query }),
});

/** Opens a connection that sends the request and does not read. */
const stalled = async (url: string, request: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write(request, resolve));
  return socket;
};

/** Counts the connections that the log reports as cut for the reason. */
const cuts = (lines: readonly string[], reason: string): number =>
  lines.filter((line) => line.includes('slow reader disconnected') && line.includes(`"${reason}"`)).length;

describe('the shipped process bounds the memory of unread answers', () => {
  let shipped: Shipped;
  beforeAll(async () => {
    shipped = await start();
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  const honest = async () => {
    const { data, errors } = await overHttp(shipped.url, {
      query: `{ wallet(address: "${WALLET}") { ${PART} } }`,
    });
    expect(errors).toBeUndefined();
    expect(data).toMatchObject({ wallet: { transactions: { nodes: { length: 100 } } } });
  };

  /** Resolves with the most megabytes by which the process grows during `count` attacks, of which four come at a time. */
  const growth = async (count: number, attack: () => Promise<unknown>): Promise<number> => {
    await honest();
    const before = await shipped.megabytes();
    let most = before;
    for (let left = count; left > 0; left -= 4) {
      await Promise.all(Array.from({ length: Math.min(left, 4) }, attack));
      await honest();
      most = Math.max(most, await shipped.megabytes());
    }
    return most - before;
  };

  test.each([
    ['server-sent events', ask(BIG, 'text/event-stream')],
    ['HTTP, with twenty pipelined requests', ask(BIG).repeat(20)],
    ['HTTP, in parts', ask(IN_PARTS, 'multipart/mixed')],
  ])('16 connections by %s', async (_name, request) => {
    using open = new DisposableStack();
    const before = cuts(shipped.lines, 'overLimit');
    const attack = async () => open.adopt(await stalled(shipped.url, request), (socket) => socket.destroy());
    expect(await growth(16, attack)).toBeLessThan(MEGABYTES);
    await expect.poll(() => cuts(shipped.lines, 'overLimit') - before).toBeGreaterThan(5);
    const counted = async () =>
      (await scrape(shipped.url)).sum('gateway_connections_cut_total', { reason: 'over_limit' });
    await expect.poll(async () => (await counted()) - cuts(shipped.lines, 'overLimit')).toBe(0);
  });

  test('a WebSocket of 60 queries', async () => {
    using open = new DisposableStack();
    const attack = async () => {
      const client = open.use(await openRawSocket(shipped.url, () => {}));
      client.stall();
      client.write(...Array.from({ length: 60 }, (_, number) => subscribeMessage(BIG, {}, `${number}`)));
    };
    expect(await growth(2, attack)).toBeLessThan(MEGABYTES);
  });
});

test('many clients that ask for one kept answer at once, and begin to read late, get all of it', async () => {
  await using shipped = await start();
  const answer = async () => (await fetch(`${shipped.url}/graphql`, postOf(BIG))).text();
  // The second one is kept.
  await answer();
  const { length } = await answer();
  using open = new DisposableStack();
  const sockets = await Promise.all(Array.from({ length: 12 }, () => stalled(shipped.url, ask(BIG))));
  for (const socket of sockets) open.defer(() => void socket.destroy());
  await sleep(100);
  for (const socket of sockets) socket.resume();
  await eventually(
    () => sockets.every(({ bytesRead }) => bytesRead > length),
    () => [length, sockets.map(({ bytesRead, destroyed }) => [bytesRead, destroyed])],
  );
  expect(cuts(shipped.lines, 'overLimit')).toBe(0);
});

test('an answer of more than 64 MB is sent whole if MAX_ANSWER_MB allows it', async () => {
  await using shipped = await startGatewayProcess({ MAX_ANSWER_MB: '128' });
  shipped.fake.transactions.set(WALLET, servingTransactions(items));
  const parts = Array.from({ length: 18 }, (_, number) => `part${number}`);
  const { data, errors } = await overHttp(shipped.url, { query: answerOf(parts) });
  expect(errors).toBeUndefined();
  expect(Object.keys((data as { wallet: object }).wallet)).toEqual(parts);
  expect(cuts(shipped.lines, 'overLimit')).toBe(0);
});

const PING = clientFrame('', 0x89);

/** The operating system takes an answer in smaller steps: whoever reads this much has read something for the gateway, too. */
const STEP_BYTES = 1_500_000;

/** Reads 32 KB a hundred times a second, and the rest at once after `isHurried` is set. */
const slowReader = async (url: string, request: string) => {
  const { hostname, port } = new URL(url);
  const reader = { bytes: 0, isHurried: false, isCut: false, isWhole: false };
  let end = '';
  const buffer = Buffer.alloc(32_768);
  const socket = connect({
    port: Number(port),
    host: hostname,
    onread: {
      buffer,
      callback(count) {
        reader.bytes += count;
        end = (end + buffer.toString('latin1', 0, count)).slice(-100);
        reader.isWhole ||= /"cached":\d+\}\}\}/.test(end);
        return reader.isHurried;
      },
    },
  });
  socket.on('error', () => {
    reader.isCut = true;
  });
  const timer = setInterval(() => socket.resume(), 10);
  socket.once('close', () => clearInterval(timer));
  socket.write(request);
  return Object.assign(reader, { [Symbol.dispose]: () => void socket.destroy() });
};

test('a client that reads nothing for a while is cut on each transport; one that reads slowly gets all', async () => {
  await using fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(items));
  // However busy the machine is, the slow reader reads something within each half of the time that it may read nothing.
  const { now, advance } = createTestClock();
  const unsent = { ...UNSENT_TIMES, checkEveryMs: 100 };
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url }, { now, times: { unsent } });
  const lines = gateway.logLines;
  using open = new DisposableStack();
  await overHttp(gateway.url, { query: LESS });
  using slow = await slowReader(gateway.url, ask(LESS));
  const page = head('GET /graphql', 'accept: text/html');
  for (const request of [ask(LESS), ask(LESS, 'text/event-stream'), page.repeat(20)])
    open.adopt(await stalled(gateway.url, request), (socket) => socket.destroy());
  const client = open.use(await openRawSocket(gateway.url, () => {}));
  client.stall();
  client.write(subscribeMessage(LESS));
  // A peer that sends is cut, too.
  const pings = setInterval(() => client.write(PING), 100);
  open.defer(() => clearInterval(pings));
  for (let step = 1; step <= 3 || cuts(lines, 'stalled') < 4; step += 1) {
    await eventually(() => slow.isWhole || slow.isCut || slow.bytes > step * STEP_BYTES);
    advance(UNSENT_TIMES.stallMs / 2);
    await sleep(3 * unsent.checkEveryMs);
  }
  expect(cuts(lines, 'stalled')).toBe(4);
  expect(slow.isCut).toBe(false);
  slow.isHurried = true;
  await eventually(() => slow.isWhole);
  expect(slow.bytes).toBeGreaterThan(LESS_BYTES);
  expect(cuts(lines, 'overLimit')).toBe(0);
});

test('by default a client may read nothing for a minute', () => {
  expect(UNSENT_TIMES).toMatchObject({ stallMs: 60_000, activeMs: 3000 });
});
