import { describe, expect, test } from 'vitest';
import { codesOf, type GraphQLFault, heldKey, startGateway } from '../support/gateway/start.ts';
import { freshAddress, transaction, transactionsEnvelope } from '../support/upstream/builders.ts';
import { type Reply, startFakeService } from '../support/upstream/fake-service.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

const document =
  'query ($address: Address!) { wallet(address: $address) { address transactions { nodes { hash } } } }';

type Answer = { wallet: { address: string; transactions: { nodes: { hash: string }[] } | null } };

const serviceMessage = 'The chain of dreams is not supported';

/** The error that a client gets for an answer of upstream. The wallet itself is there, without its connection. */
const faultOf = async (answer: Reply, env: Record<string, string> = {}): Promise<GraphQLFault> => {
  await using fake = await startFakeService({ transactions: () => answer });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env });
  const address = freshAddress();
  const reply = await gateway.query<Answer>(document, { address });
  expect(reply.data).toEqual({ wallet: { address, transactions: null } });
  expect(reply.errors).toHaveLength(1);
  expect(reply.extensions.upstream.requests).toBeGreaterThan(0);
  const [fault] = reply.errors ?? [];
  if (!fault) throw new Error('expected an error');
  expect(fault.path).toEqual(['wallet', 'transactions']);
  return fault;
};

describe("a failure of the gateway's own key does not show upstream's message", () => {
  test.each([401, 403])('a %i is UPSTREAM_REJECTED with the status, without the message', async (status) => {
    const fault = await faultOf({ status, json: { error: serviceMessage } });
    expect(fault.extensions).toMatchObject({ code: 'UPSTREAM_REJECTED', status });
    expect(JSON.stringify(fault)).not.toContain(serviceMessage);
  });
});

test('402 is QUOTA_EXCEEDED and is not retried', async () => {
  await using fake = await startFakeService({
    transactions: () => ({ status: 402, json: { error: 'used up' } }),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  expect(codesOf(await gateway.query(document, { address: freshAddress() }))).toEqual(['QUOTA_EXCEEDED']);
  expect(fake.requests).toHaveLength(1);
});

describe('429 is RATE_LIMITED', () => {
  test('with retryAfterMs from seconds', async () => {
    const fault = await faultOf({
      status: 429,
      headers: { 'retry-after': '7' },
      json: { error: 'slow down' },
    });
    expect(fault.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 7000 });
  });

  test('with retryAfterMs from a date', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const fault = await faultOf({
      status: 429,
      headers: { 'retry-after': date },
      json: { error: 'slow down' },
    });
    expect(fault.extensions.code).toBe('RATE_LIMITED');
    expect(fault.extensions.retryAfterMs).toBeGreaterThan(0);
    expect(fault.extensions.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test('and a minute at most, since upstream is asked again by then, and timers hold 25 days at most', async () => {
    const fault = await faultOf({ status: 429, headers: { 'retry-after': '999999999' }, text: 'slow down' });
    expect(fault.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 60_000 });
  });

  test('also without a Retry-After', async () => {
    const fault = await faultOf({ status: 429, text: 'slow down' });
    expect(fault.extensions.code).toBe('RATE_LIMITED');
  });

  test.each(['soon', '-5', ''])('and an invalid Retry-After (%j) is no time', async (retryAfter) => {
    const fault = await faultOf({ status: 429, headers: { 'retry-after': retryAfter }, text: 'slow down' });
    expect(fault.extensions.code).toBe('RATE_LIMITED');
    expect(fault.extensions.retryAfterMs ?? 0).toBeGreaterThanOrEqual(0);
  });
});

describe('another 4xx is UPSTREAM_REJECTED with the status and the message, from any body shape', () => {
  test.each([
    { shape: '{error}', reply: { json: { error: serviceMessage } } },
    {
      shape: '{error: {message, code}}',
      reply: { json: { error: { message: serviceMessage, code: 'CHAIN' } } },
    },
    { shape: '{message}', reply: { json: { message: serviceMessage } } },
    { shape: 'plain text', reply: { text: serviceMessage } },
  ])('$shape', async ({ reply }) => {
    for (const status of [400, 404, 422]) {
      const fault = await faultOf({ status, ...reply });
      expect(fault.extensions).toMatchObject({ code: 'UPSTREAM_REJECTED', status });
      expect(JSON.stringify(fault)).toContain(serviceMessage);
    }
  });

  test('with an empty body the error has the status', async () => {
    expect((await faultOf({ status: 418 })).extensions).toMatchObject({
      code: 'UPSTREAM_REJECTED',
      status: 418,
    });
  });
});

describe('an upstream that is down is UPSTREAM_UNAVAILABLE', () => {
  test.each([500, 502, 503, 504])('by a %i, whose message is not passed on', async (status) => {
    const fault = await faultOf({ status, text: 'panicked at main.rs:1' });
    expect(fault.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(JSON.stringify(fault)).not.toContain('panicked');
  });

  test('by refused connections', async () => {
    const gone = await startFakeService();
    await gone[Symbol.asyncDispose]();
    await using gateway = await startGateway({ UPSTREAM_URL: gone.url });
    const reply = await gateway.query(document, { address: freshAddress() });
    expect(codesOf(reply)).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(reply.body).not.toContain('ECONNREFUSED');
  });
});

test('no answer within the timeout is UPSTREAM_TIMEOUT', async () => {
  const fault = await faultOf({ silent: true }, { UPSTREAM_TIMEOUT_MS: '200' });
  expect(fault.extensions.code).toBe('UPSTREAM_TIMEOUT');
});

describe('an answer that breaks the contract is UPSTREAM_INVALID_RESPONSE', () => {
  const page = transactionsEnvelope([transaction()]);
  test.each<{ kind: string; reply: Reply }>([
    { kind: 'HTML', reply: { text: '<html>Welcome</html>', headers: { 'content-type': 'text/html' } } },
    { kind: 'JSON that is cut', reply: { text: JSON.stringify(page).slice(0, 100) } },
    { kind: 'nothing at all', reply: { text: '' } },
    { kind: 'null', reply: { text: 'null' } },
    { kind: 'a list', reply: { json: [] } },
    { kind: 'no list of transactions', reply: { json: { wallet_address: 'x' } } },
    { kind: 'transactions that are no list', reply: { json: { transactions: { 0: transaction() } } } },
    { kind: 'an offset that is no string', reply: { json: { ...page, next_offset: { page: 2 } } } },
  ])('$kind', async ({ reply }) => {
    expect((await faultOf(reply)).extensions.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });

  test('a body over 32 MB', async () => {
    const padding = 'x'.repeat(33 * 1024 * 1024);
    const fault = await faultOf({ json: { ...page, padding } });
    expect(fault.extensions.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });

  // Half an answer may be the fault of the connection or of upstream: both codes are right.
  test('a body whose connection breaks, or that is UPSTREAM_UNAVAILABLE', async () => {
    const fault = await faultOf({ json: page, cutAfterBytes: 50 });
    expect(fault.extensions.code).toBeOneOf(['UPSTREAM_INVALID_RESPONSE', 'UPSTREAM_UNAVAILABLE']);
  });
});

test('one wallet that fails does not affect the others', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const [good, bad, fine] = [freshAddress(), freshAddress(), freshAddress()];
  const item = transaction();
  fake.transactions.set(good, servingTransactions([item]));
  fake.transactions.set(fine, servingTransactions([item]));
  fake.transactions.set(bad, () => ({ status: 404, text: serviceMessage }));
  const reply = await gateway.query(
    'query ($addresses: [Address!]!) { wallets(addresses: $addresses) { address transactions { nodes { hash } } } }',
    { addresses: [good, bad, fine] },
  );
  const whole = { nodes: [{ hash: item.hash }] };
  expect(reply.data).toEqual({
    wallets: [
      { address: good, transactions: whole },
      { address: bad, transactions: null },
      { address: fine, transactions: whole },
    ],
  });
  expect(reply.errors?.map(({ path }) => path)).toEqual([['wallets', 1, 'transactions']]);
});

test('a failure is not cached: the next query sends a request', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 404, text: serviceMessage }));
  expect(codesOf(await gateway.query(document, { address }))).toEqual(['UPSTREAM_REJECTED']);
  fake.transactions.set(address, servingTransactions([transaction()]));
  expect((await gateway.query(document, { address })).errors).toBeUndefined();
});

test("the gateway's key is sent to upstream, and appears nowhere else", async () => {
  await using fake = await startFakeService({
    // An upstream that repeats the key in its message.
    transactions: ({ headers }) => ({
      status: 401,
      json: { error: `bad key ${headers['x-service-api-key']}` },
    }),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const reply = await gateway.query(document, { address: freshAddress() });
  expect(fake.requests[0]?.headers['x-service-api-key']).toBe(heldKey);
  expect(reply.body).not.toContain(heldKey);
  expect(JSON.stringify([...reply.headers])).not.toContain(heldKey);
  await gateway.stop();
  expect(gateway.logLines.join('')).not.toContain(heldKey);
});
