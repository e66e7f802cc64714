import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { listenTo, message, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { watchLiveness } from '../../support/gateway/liveness.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { codesOf, type Variables } from '../../support/gateway/start.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';

/** Answers that are many times what was asked of the service, from pages that are kept: they cost no compute unit. */

const WALLET = addressOf(0xa115);
const FIELDS =
  'id address chain chainId hash blockHash blockNumber blockTime index from to value data nonce gasPrice gasUsed effectiveGasPrice success transactionType direction';
/** In milliseconds that the gateway runs. */
const GENEROUS_MS = 4000;

const aliases = (count: number, selection: string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${selection}`).join(' ');

/** Of 4 KB each: an answer of seven thousand of them is just within the limit. */
const items = history(1000).map((each, index) => ({
  ...each,
  data: `0x${index.toString(16).padStart(4, '0').repeat(1024)}`,
}));
const LEGAL = `{ wallet(address: "${WALLET}") { ${aliases(7, 'transactions(first: 1000) { nodes { hash data } }')} } }`;

const legalData = () => {
  const nodes = items.map(({ hash, data }) => ({ hash, data }));
  return { wallet: Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`a${index}`, { nodes }])) };
};

/** The answer as JSON.stringify writes it, with what it says that it cost. */
const expectedText = (text: string): string =>
  JSON.stringify({
    data: legalData(),
    extensions: JSON.parse(
      text
        .slice(-200)
        .replace(/^.*"extensions":/s, '')
        .slice(0, -1),
    ),
  });

type Receive = (url: string, query: string) => Promise<string>;

const byHttp =
  (accept: string): Receive =>
  async (url, query) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query }),
    });
    return response.text();
  };

const byEventStream: Receive = async (url, query) => {
  const text = await byHttp('text/event-stream')(url, query);
  return /^:\n\nevent: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/.exec(text)?.[1] ?? text.slice(0, 300);
};

const byWebSocket: Receive = async (url, query) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const received: string[] = [];
  const completed = Promise.withResolvers<void>();
  socket.on('message', (data) => {
    received.push(String(data));
    if (received.length === 1)
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    if (received.length === 3) completed.resolve();
  });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await completed.promise;
  socket.close();
  expect(received[2]).toBe('{"id":"1","type":"complete"}');
  return /^\{"id":"1","type":"next","payload":(.*)\}$/.exec(received[1] ?? '')?.[1] ?? '';
};

const TRANSPORTS: [way: string, receive: Receive][] = [
  ['HTTP', byHttp('application/json')],
  ['HTTP as graphql-response', byHttp('application/graphql-response+json')],
  ['server-sent events', byEventStream],
  ['WebSocket', byWebSocket],
];

describe('the shipped process', () => {
  let shipped: Shipped;
  let liveness: Awaited<ReturnType<typeof watchLiveness>>;

  const ask = (query: string, variables: Variables = {}) => shipped.query(query, variables);

  beforeAll(async () => {
    shipped = await startGatewayProcess({
      NODE_OPTIONS: '--max-old-space-size=512',
      CACHE_HEAD_MS: '600000',
      CACHE_TAIL_MS: '600000',
    });
    shipped.fake.transactions.set(WALLET, servingTransactions(items));
    await ask(`{ wallet(address: "${WALLET}") { transactions(first: 1000) { nodes { hash } } } }`);
    liveness = await watchLiveness(shipped);
  });
  afterAll(async () => {
    await liveness[Symbol.asyncDispose]();
    await shipped[Symbol.asyncDispose]();
  });

  test.each([1, 30, 100])('49 long lists of one wallet, named %i times, are refused', async (times) => {
    const before = await shipped.megabytes();
    await liveness.longestWait();
    const reply = await ask(
      `query ($all: [Address!]!) { wallets(addresses: $all) { ${aliases(49, `transactions(first: 1000) { nodes { ${FIELDS} } }`)} } }`,
      { all: Array(times).fill(WALLET) },
    );
    expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(reply.errors?.[0]?.message).toMatch(
      /at most 32 MB \(MAX_ANSWER_MB\), got one estimated at \d+ MB; its heaviest field is wallets\.a\d+, with/,
    );
    expect(await liveness.longestWait()).toBeLessThan(GENEROUS_MS);
    expect((await shipped.megabytes()) - before).toBeLessThan(100);
  });

  test.each(TRANSPORTS)(
    'a legal answer of 29 MB comes whole by %s, while others are answered',
    async (_way, receive) => {
      await liveness.longestWait();
      const text = await receive(shipped.url, LEGAL);
      expect(text.length).toBeGreaterThan(29_000_000);
      // Compared as a whole: a difference would be shown in full.
      expect(text === expectedText(text)).toBe(true);
      const longest = await liveness.longestWait();
      expect(longest).toBeLessThan(GENEROUS_MS);
    },
  );

  test('inner lists that no estimate foresees are bounded while the answer is made', async () => {
    const wallet = addressOf(0xa116);
    const log = { address: WALLET, data: null, topics: [], decoded: null };
    const logs = Array.from({ length: 1500 }, () => log);
    shipped.fake.transactions.set(
      wallet,
      servingTransactions(history(100).map((each) => ({ ...each, logs }))),
    );
    await ask(`{ wallet(address: "${wallet}") { transactions(first: 1) { nodes { hash } } } }`);
    const before = await shipped.megabytes();
    await liveness.longestWait();
    const selection = 'transactions(first: 100) { nodes { logs { address data topics decoded { name } } } }';
    const reply = await ask(`{ wallet(address: "${wallet}") { ${aliases(40, selection)} } }`);
    expect(reply.data).toBeNull();
    expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(reply.errors?.[0]?.message).toMatch(
      /at most 32 MB \(MAX_ANSWER_MB\), got a larger one, which was estimated at/,
    );
    expect(await liveness.longestWait()).toBeLessThan(GENEROUS_MS);
    expect((await shipped.megabytes()) - before).toBeLessThan(400);
  });

  test('many such answers at once are made one after another', async () => {
    const before = await shipped.megabytes();
    await liveness.longestWait();
    const replies = await Promise.all(Array.from({ length: 4 }, () => ask(LEGAL)));
    expect(replies.every(({ body }) => body === expectedText(body))).toBe(true);
    expect(await liveness.longestWait()).toBeLessThan(GENEROUS_MS);
    expect((await shipped.megabytes()) - before).toBeLessThan(500);
  });

  test('an operation that its client leaves while it waits for room ends without harm', async () => {
    const silent = addressOf(0xa117);
    shipped.fake.transactions.set(silent, () => ({ silent: true }));
    const lists = aliases(45, 'transactions(first: 1000) { nodes { hash data } }');
    const heavy = `wallet(address: "${silent}") { ${lists} }`;
    using client = await listenTo(shipped);
    const isAnswered = (id: string) => client.received.some((each) => each.id === id && each.type === 'next');
    client.write(
      subscribeMessage(`{ ${heavy} }`, {}, 'first'),
      subscribeMessage(`{ ${heavy} }`, {}, 'second'),
    );
    // The first two fill the socket's room, so these wait.
    for (const id of ['third', 'fourth'])
      client.write(subscribeMessage(`{ nodes(ids: ["no id"]) { id } ${heavy} }`, {}, id));
    for (const id of ['light', 'lighter']) {
      client.write(subscribeMessage('{ __typename }', {}, id));
      await eventually(() => isAnswered(id));
    }
    for (const id of ['third', 'fourth']) client.write(message({ id, type: 'complete' }));
    client.write(subscribeMessage('{ __typename }', {}, 'last'));
    await eventually(() => isAnswered('last'));
    expect(isAnswered('third') || isAnswered('fourth')).toBe(false);
    expect(await ask('{ __typename }')).toMatchObject({ data: { __typename: 'Query' } });
  });
});
