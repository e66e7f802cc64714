import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { UNSENT_TIMES } from '../../../src/server/http/unsent-limit.ts';
import { askInParts, MULTIPART } from '../../support/clients/parts.ts';
import { json } from '../../support/clients/raw-http.ts';
import { listenTo, message, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { requestsToBe } from '../../support/gateway/wait-for-requests.ts';
import { PORTFOLIO, startPortfolio } from '../../support/lookups/portfolio.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** An operation whose client leaves stops asking, and one whose client reads nothing is cut. */

const STREAMED = PORTFOLIO.replace(
  'transactions(first: 2) { nodes {',
  'transactions(first: 1000) { nodes @stream(initialCount: 1) {',
);

test.each([
  ['multipart', 'POST'],
  ['multipart by GET', 'GET'],
] as const)('%s: a client that leaves between two parts has its requests aborted', async (_name, method) => {
  await using portfolio = await startPortfolio();
  const { fake, gateway, variables } = portfolio;
  const answer = await askInParts(gateway.url, { query: STREAMED, variables, method });
  await answer.next();
  const held = () => fake.requestsFor(variables.slow);
  await eventually(() => held().length === 1);
  answer.leave();
  await eventually(() => held()[0]?.abandoned === true);
  await requestsToBe(gateway.url, 0);
  await expect
    .poll(async () => (await scrape(gateway.url)).sum('gateway_operations_total', { code: 'ABANDONED' }))
    .toBe(1);
  portfolio.release();
  expect(held()).toHaveLength(1);
});

type Message = {
  id?: string;
  type: string;
  payload?: { hasNext?: boolean; data?: unknown; errors?: unknown };
};

test('over a WebSocket each part is a message, and the last one has the cost', async () => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  using socket = await listenTo(gateway);
  const received = socket.received as Message[];
  socket.write(subscribeMessage(PORTFOLIO, variables));
  await eventually(() => received.length === 1);
  expect(received[0]).toMatchObject({
    id: '1',
    type: 'next',
    payload: { data: { quick: {} }, hasNext: true },
  });
  portfolio.release();
  await eventually(() => received.length === 4);
  expect(received.slice(1)).toMatchObject([
    { type: 'next', payload: { incremental: [{ path: ['slow'], label: 'slow' }], hasNext: true } },
    { type: 'next', payload: { extensions: { upstream: { requests: 2, computeUnits: 2 } }, hasNext: false } },
    { type: 'complete', id: '1' },
  ]);
});

test('over a WebSocket an operation that its client completes is aborted, and sends nothing more', async () => {
  await using portfolio = await startPortfolio();
  const { fake, gateway, variables } = portfolio;
  using socket = await listenTo(gateway);
  socket.write(subscribeMessage(STREAMED, variables));
  await eventually(() => socket.received.length >= 1 && fake.requestsFor(variables.slow).length === 1);
  socket.write(message({ id: '1', type: 'complete' }));
  await eventually(() => fake.requestsFor(variables.slow)[0]?.abandoned === true);
  const before = socket.received.length;
  portfolio.release();
  // The id is free again.
  socket.write(subscribeMessage('{ chains { name } }', {}, '1'));
  await eventually(() => (socket.received as Message[]).some(({ type }) => type === 'complete'));
  expect(socket.received.slice(before)).toMatchObject([
    { type: 'next', payload: { data: { chains: expect.any(Array) } } },
    { type: 'complete' },
  ]);
  expect(fake.requestsFor(variables.slow)).toHaveLength(1);
});

test('a client that reads nothing of its parts is cut', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway(
    { UPSTREAM_URL: fake.url },
    {
      times: {
        unsent: { ...UNSENT_TIMES, stallMs: 300, checkEveryMs: 50 },
      },
    },
  );
  const wallet = addressOf(0x57a11);
  const large = history(1000).map((item) => ({ ...item, data: `0x${'ab'.repeat(7000)}` }));
  fake.transactions.set(wallet, servingTransactions(large));
  const body = JSON.stringify({
    query: `{ wallet(address: "${wallet}") { transactions(first: 1000) { nodes @stream { data } } } }`,
  });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.pause().on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.write(`${json(`content-length: ${body.length}`, `accept: ${MULTIPART}`)}${body}`);
  await eventually(() => gateway.logLines.some((line) => line.includes('slow reader disconnected')));
  await requestsToBe(gateway.url, 0);
  socket.resume();
  await closed;
});
