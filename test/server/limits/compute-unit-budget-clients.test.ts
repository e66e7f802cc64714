import { describe, expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { listenToEvents } from '../../support/clients/event-stream.ts';
import { askInParts } from '../../support/clients/parts.ts';
import { postFrom } from '../../support/clients/post-from.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import {
  codesOf,
  type GraphQLFault,
  type GraphQLReply,
  nowhere,
  startGateway,
} from '../../support/gateway/start.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** CLIENT_COMPUTE_UNITS_PER_MINUTE: the estimate is reserved before an operation runs, and the rest is returned after it. */

const transactions =
  'query ($all: [Address!]!) { wallets(addresses: $all) { transactions { nodes { hash } } } }';

const wallets = (count: number) => ({ all: Array.from({ length: count }, freshAddress) });

type Refusal = GraphQLFault & {
  extensions: { estimatedComputeUnits: number; allowedComputeUnits: number };
};

const refusalIn = ({ errors }: Pick<GraphQLReply, 'errors'>) => errors?.[0] as Refusal | undefined;

describe("a client's budget", () => {
  test('runs out, and the error says the estimate, the rest of the budget, and how long to wait', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '60',
    });
    await gateway.data(transactions, wallets(50));
    const reply = await gateway.query(transactions, wallets(60));
    expect(codesOf(reply)).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
    const refusal = refusalIn(reply);
    const left = refusal?.extensions.allowedComputeUnits ?? Number.NaN;
    expect(left).toBeGreaterThanOrEqual(10);
    expect(left).toBeLessThan(60);
    expect(refusal?.extensions.estimatedComputeUnits).toBe(60);
    expect(refusal?.message).toContain(`at most ${left} compute units`);
    expect(refusal?.message).toContain('60 a minute, got one that may cost 60.');
    // The budget grows by one unit each second.
    expect(refusal?.extensions.retryAfterMs).toBeGreaterThan((59 - left) * 1000);
    expect(refusal?.extensions.retryAfterMs).toBeLessThanOrEqual((60 - left) * 1000);
    expect(reply.extensions.upstream).toEqual({
      requests: 0,
      computeUnits: 0,
      cached: 0,
      budget: { left, perMinute: 60 },
    });
    expect(fake.requests).toHaveLength(50);
  });

  test('is not spent by cached pages', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '4',
      CACHE_HEAD_MS: '60000',
    });
    const two = wallets(2);
    for (let turn = 0; turn < 20; turn += 1) await gateway.data(transactions, two);
    await gateway.data(transactions, wallets(2));
    expect(codesOf(await gateway.query(transactions, wallets(4)))).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
    expect(fake.requests).toHaveLength(4);
  });

  test('pays what upstream billed, even if that is more than the estimate', async () => {
    await using fake = await startFakeWallets();
    const address = freshAddress();
    const headers = { 'X-Compute-Units-Cost': '7' };
    fake.transactions.set(address, () => ({ json: { transactions: [] }, headers }));
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '8',
    });
    await gateway.data(transactions, { all: [address] });
    expect(codesOf(await gateway.query(transactions, wallets(7)))).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
  });

  test("that is smaller than an operation's estimate rejects it without retryAfterMs", async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '10',
    });
    const reply = await gateway.query(transactions, wallets(11));
    expect(codesOf(reply)).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
    expect(refusalIn(reply)?.extensions).not.toHaveProperty('retryAfterMs');
    expect(fake.requests).toEqual([]);
    await gateway.data(transactions, wallets(10));
  });

  test('does not limit operations without upstream requests', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '1',
    });
    await gateway.data(transactions, wallets(1));
    expect(codesOf(await gateway.query(transactions, wallets(1)))).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
    await gateway.data('{ deliveries { nodes { id } } deliveryUrl }');
  });
});

describe('what is left of the budget', () => {
  const env = { CLIENT_COMPUTE_UNITS_PER_MINUTE: '60', CACHE_HEAD_MS: '600000' };

  test.each(TRANSPORTS)(
    'is in each answer over %s, after what was not spent is given back',
    async (_transport, send) => {
      await using fake = await startFakeWallets();
      const clock = createTestClock();
      await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env }, { now: clock.now });
      const ask = async (variables: object, query = transactions) => {
        const { extensions, errors } = await send(gateway.url, { query, variables });
        return [extensions?.upstream.budget, codesOf({ errors })[0]];
      };
      const has = (left: number) => ({ left, perMinute: 60 });
      const twenty = wallets(20);
      expect(await ask(twenty)).toEqual([has(40), undefined]);
      // Cached pages cost nothing, nor does an operation without pages.
      expect(await ask(twenty)).toEqual([has(40), undefined]);
      expect(await ask({}, '{ __typename }')).toEqual([has(40), undefined]);
      expect(await ask(wallets(41))).toEqual([has(40), 'COMPUTE_BUDGET_EXCEEDED']);
      clock.advance(5000);
      expect(await ask(wallets(10))).toEqual([has(35), undefined]);
    },
  );

  test('is in the last part of an answer in parts, and in that of an operation that costs too much for anyone', async () => {
    await using fake = await startFakeWallets();
    const { now } = createTestClock();
    await using gateway = await startGateway(
      { UPSTREAM_URL: fake.url, ...env, MAX_COMPUTE_UNITS: '20' },
      { now },
    );
    const query = `query ($a: Address!) { wallet(address: $a) { id ... @defer { transactions { nodes { hash } } } } }`;
    const parts = await (await askInParts(gateway.url, { query, variables: { a: freshAddress() } })).rest();
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.at(-1)?.extensions?.upstream.budget).toEqual({ left: 59, perMinute: 60 });
    const { extensions } = await gateway.query(transactions, wallets(21));
    expect(extensions.upstream.budget).toEqual({ left: 59, perMinute: 60 });
  });

  test('is neither in events, which clients share, nor anywhere without a budget', async () => {
    await using gateway = await startGateway({
      UPSTREAM_URL: nowhere,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '60',
    });
    using stream = await listenToEvents(gateway.url, 'subscription { deliveries { cursor } }');
    const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
    await deliver(deliveryUrl, { body: {} });
    await eventually(() => stream.text().includes('"cursor"'));
    expect(stream.text()).toContain('"upstream":{');
    expect(stream.text()).not.toContain('budget');
    await using unlimited = await startGateway({ UPSTREAM_URL: nowhere });
    const { extensions } = await unlimited.query('{ __typename }');
    expect(extensions.upstream).not.toHaveProperty('budget');
  });
});

describe('clients are distinguished', () => {
  test('by their own keys, where clients bring keys', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      UPSTREAM_API_KEY: undefined,
      AUTH: 'key',
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '3',
    });
    const keyed = (key: string) => gateway.query(transactions, wallets(3), { 'X-Service-Api-Key': key });
    expect(codesOf(await keyed('one-key'))).toEqual([]);
    expect(codesOf(await keyed('another-key'))).toEqual([]);
    expect(codesOf(await keyed('one-key'))).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
  });

  test('by their IP address, without authentication', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '3',
    });
    const from = async (localAddress: string): Promise<GraphQLReply> =>
      JSON.parse(await postFrom(localAddress, gateway.url, { query: transactions, variables: wallets(3) }));
    expect(codesOf(await from('127.0.0.2'))).toEqual([]);
    expect(codesOf(await from('127.0.0.3'))).toEqual([]);
    expect(codesOf(await from('127.0.0.2'))).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
  });
});

describe('over HTTP a rejection has a status', () => {
  const statusOf = async (limits: Record<string, string>, accept: string, count: number) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...limits });
    await gateway.data(transactions, wallets(2));
    const { status, headers, body } = await gateway.query(transactions, wallets(count), { accept });
    expect(body).not.toContain('"http"');
    return { status, retryAfter: headers.get('retry-after') };
  };
  const graphql = 'application/graphql-response+json';

  test('429 with Retry-After, beyond the budget', async () => {
    const { status, retryAfter } = await statusOf({ CLIENT_COMPUTE_UNITS_PER_MINUTE: '2' }, graphql, 1);
    expect(status).toBe(429);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(Number(retryAfter)).toBeLessThanOrEqual(30);
  });

  test('400 for an operation that costs more than any may', async () => {
    const refused = await statusOf({ MAX_COMPUTE_UNITS: '2' }, graphql, 3);
    expect(refused).toEqual({ status: 400, retryAfter: null });
  });

  test('200 under application/json, as for every GraphQL response', async () => {
    const { status } = await statusOf({ MAX_COMPUTE_UNITS: '2' }, 'application/json', 3);
    expect(status).toBe(200);
  });
});

describe('the budget holds on every transport', () => {
  const tooMuch = { MAX_COMPUTE_UNITS: '2', CLIENT_COMPUTE_UNITS_PER_MINUTE: '4' };
  const inline = (count: number) =>
    `{ wallets(addresses: ${JSON.stringify(wallets(count).all)}) { transactions { nodes { hash } } } }`;

  test('server-sent events', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...tooMuch });
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: inline(3) }),
    });
    const [, data] = /^data: (\{.*\})$/m.exec(await response.text()) ?? [];
    const reply: GraphQLReply = JSON.parse(data ?? '{}');
    expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(reply.extensions.upstream).toMatchObject({ requests: 0, computeUnits: 0, cached: 0 });
    expect(fake.requests).toEqual([]);
  });

  test('GET', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...tooMuch });
    const response = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent(inline(3))}`, {
      headers: { accept: 'application/json' },
    });
    expect(codesOf((await response.json()) as GraphQLReply)).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(fake.requests).toEqual([]);
  });

  test('WebSocket, on the same budget', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...tooMuch });
    const over = async (count: number) => {
      await using socket = subscribe(gateway.url, { query: inline(count) });
      await socket.ended;
      return codesOf({ errors: socket.faults });
    };
    expect(await over(3)).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(fake.requests).toEqual([]);
    expect(await over(2)).toEqual([]);
    await gateway.data(transactions, wallets(2));
    expect(await over(2)).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
    expect(fake.requests).toHaveLength(4);
  });
});
