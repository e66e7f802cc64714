import { describe, expect, test } from 'vitest';
import { createUpstreamClient } from '../../src/upstream/client/client.ts';
import type { Outcome } from '../../src/upstream/client/errors.ts';
import { Usage } from '../../src/upstream/client/request.ts';
import { RETRY_RULES } from '../../src/upstream/client/retry.ts';
import { codesOf, startGateway } from '../support/gateway/start.ts';
import { exhaustedMemory } from '../support/upstream/body-memory.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { type Answer, inTurn, type Reply, startFakeService } from '../support/upstream/fake-service.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { requestScope } from '../support/upstream/request-scope.ts';

const methods = ['GET', 'PATCH', 'POST', 'PUT', 'DELETE'] as const;

const document =
  'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }';

const good = servingTransactions(history(3));
const failing =
  (reply: Reply): Answer =>
  () =>
    reply;

/** The reply of upstream that makes an attempt end with this outcome. */
const replyFor = (outcome: Outcome): Reply => {
  if (typeof outcome === 'number') return { status: outcome, json: { error: 'no' } };
  if (outcome === 'reset') return { json: { promised: true }, cutAfterBytes: 3 };
  if (outcome === 'discarded') return { json: { small: true } };
  if (outcome === 'invalidResponse') return { text: '<html>', headers: { 'content-type': 'text/html' } };
  return { silent: true };
};

/** The number of attempts of one request when each of them ends with this outcome. */
const attemptsAt = async (outcome: Outcome, method: (typeof methods)[number]): Promise<number> => {
  await using fake = await startFakeService({ other: failing(replyFor(outcome)) });
  if (outcome === 'connectFailed') await fake.goDown();
  const timeoutMs = outcome === 'noResponse' ? 200 : 20_000;
  const limits = { timeoutMs, connections: 4, perSecond: null };
  const memory = outcome === 'discarded' ? { bodyMemory: exhaustedMemory() } : {};
  const client = createUpstreamClient({ url: fake.url, keyHeader: 'X-Key', ...limits, ...memory });
  const usage = new Usage();
  const request = { resource: 'thing', method, path: ['thing'], cost: 1 };
  try {
    await expect(client.request(request, requestScope(usage))).rejects.toThrow();
  } finally {
    await client.close();
  }
  if (outcome !== 'connectFailed') expect(fake.requests).toHaveLength(usage.requests);
  return usage.requests;
};

describe('the retry table', () => {
  test.each(RETRY_RULES)('after $outcome: $methods', async ({ outcome, methods: retried }) => {
    const attempts = methods.map(async (method) => [method, await attemptsAt(outcome, method)]);
    expect(await Promise.all(attempts)).toEqual(
      methods.map((method) => [method, retried.includes(method) ? 3 : 1]),
    );
  });

  test('a status that is not in it is not retried', async () => {
    const statuses = [400, 401, 403, 404, 409, 422, 501];
    const attempts = statuses.map((status) => attemptsAt(status, 'GET'));
    expect(await Promise.all(attempts)).toEqual(statuses.map(() => 1));
  });

  test('retries no creation that may have succeeded, and no used-up quota', () => {
    const creating = RETRY_RULES.filter((rule) => rule.methods.includes('POST'));
    expect(creating.map(({ outcome }) => outcome)).toEqual(['connectFailed']);
    expect(RETRY_RULES.find(({ outcome }) => outcome === 402)?.methods).toEqual([]);
  });

  test('has a reason for each rule', () => {
    for (const { why } of RETRY_RULES) expect(why).toMatch(/\.$/);
  });
});

describe('a lookup succeeds after one failure', () => {
  test.each<{ kind: string; reply: Reply; computeUnits?: number }>([
    { kind: '429', reply: { status: 429 }, computeUnits: 1 },
    { kind: '502 with HTML', reply: { status: 502, text: '<html>Bad gateway</html>' } },
    { kind: '503', reply: { status: 503, text: 'later' } },
    { kind: '504', reply: { status: 504 } },
    { kind: 'a connection that breaks', reply: { json: { transactions: [] }, cutAfterBytes: 5 } },
  ])('$kind', async ({ reply, computeUnits = 2 }) => {
    await using fake = await startFakeService({ transactions: inTurn(failing(reply), good) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const answer = await gateway.query(document, { address: freshAddress() });
    expect(answer.errors).toBeUndefined();
    expect(fake.requests).toHaveLength(2);
    expect(answer.extensions.upstream).toEqual({ requests: 2, computeUnits, cached: 0 });
  });
});

/** The error extensions that a client gets for a 429 without Retry-After. */
const withoutRetryAfter = async () => {
  await using fake = await startFakeService({ transactions: failing({ status: 429 }) });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  return (await gateway.query(document, { address: freshAddress() })).errors?.[0]?.extensions;
};

describe('Retry-After', () => {
  test('in seconds: the second attempt is not sooner', async () => {
    const busy = failing({ status: 429, headers: { 'retry-after': '1' } });
    await using fake = await startFakeService({ transactions: inTurn(busy, good) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    await gateway.data(document, { address: freshAddress() });
    const [first, second] = fake.requests.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('as a date: the second attempt is not sooner', async () => {
    let date = 0;
    const busy: Answer = () => {
      date = Math.ceil(Date.now() / 1000) * 1000;
      return { status: 503, headers: { 'retry-after': new Date(date).toUTCString() } };
    };
    await using fake = await startFakeService({ transactions: inTurn(busy, good) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    await gateway.data(document, { address: freshAddress() });
    expect(fake.requests[1]?.at).toBeGreaterThanOrEqual(date - 10);
  });

  test.each(['-5', '1.5', 'soon'])('%s is neither seconds nor a date, and is ignored', async (strange) => {
    const busy = failing({ status: 429, headers: { 'retry-after': strange } });
    await using fake = await startFakeService({ transactions: busy });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const { errors } = await gateway.query(document, { address: freshAddress() });
    const withoutHeader = await withoutRetryAfter();
    expect(errors?.[0]?.extensions).toEqual(withoutHeader);
  });

  test('a long one is passed on to the client', async () => {
    const busy = failing({ status: 429, headers: { 'retry-after': '60' } });
    await using fake = await startFakeService({ transactions: inTurn(busy, good) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const { errors } = await gateway.query(document, { address: freshAddress() });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 60_000 });
    expect(fake.requests).toHaveLength(1);
  });
});

test('the retry budget limits retries to a tenth of the requests, however many of them fail', async () => {
  const bad = new Set<string>();
  await using fake = await startFakeService({
    transactions: (request) => (bad.has(request.address) ? { status: 503 } : good(request)),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const queries = 60;
  for (let turn = 0; turn < queries; turn += 1) {
    const address = freshAddress();
    // Too few failures in a row to open the circuit breaker.
    if (turn % 3 > 0) bad.add(address);
    expect(codesOf(await gateway.query(document, { address }))).toEqual(
      bad.has(address) ? ['UPSTREAM_UNAVAILABLE'] : [],
    );
  }
  const retries = fake.requests.length - queries;
  expect(retries).toBeGreaterThan(0);
  expect(retries).toBeLessThanOrEqual(5 + queries / 10);
});
