import { expect, test } from 'vitest';
import type { AppOptions } from '../../../src/app.ts';
import { lookups } from '../../../src/lookups/registry.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { keysOf, pageAt } from '../../support/clients/walk.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { type Gateway, startGateway, type Upstream } from '../../support/gateway/start.ts';
import { sampleItems } from '../../support/lookups/samples.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import type { Reply, SeenRequest } from '../../support/upstream/fake-service.ts';
import { serving } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** A page of which the service could not read a part is kept for a second, and stands in for no page that is whole. */

/** What is beside good data where a part of it could not be read. */
const FAILURES: Readonly<Record<string, object>> = {
  'an error': { errors: { error_message: 'Some could not be read', token_errors: [{ chain_id: 1 }] } },
  'a list of errors': { errors: ['timeout'] },
  'a warning of another kind': { warnings: [{ code: 'CHAIN_BEHIND', message: 'm', chain_ids: [1] }] },
  'a warning that is a text': { warnings: 'chain 1 is slow' },
  'two warnings, one of which will stay': {
    warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS', chain_ids: [5] }, { code: 'OTHER' }],
  },
};

/** It says the same of each answer: asking again would be billed for nothing. */
const LASTING = { warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS', message: 'm', chain_ids: [5] }] };

const [anError = {}] = Object.values(FAILURES);

/** Pages are fresh for minutes. The clock is the test's. */
const ENV = { CACHE_HEAD_MS: '60000', CACHE_TAIL_MS: '60000', CACHE_STALE_MS: '300000' };

const start = async (lookup: AnyLookup, env: Record<string, string> = {}, options: AppOptions = {}) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const clock = createTestClock();
  const gateway = made.use(
    await startGateway({ UPSTREAM_URL: fake.url, ...ENV, ...env }, { ...clock, ...options }),
  );
  const address = freshAddress();
  let answer: (request: SeenRequest) => Reply | Promise<Reply> = () => ({ status: 500 });
  fake.scriptsOf(lookup).set(address, (request) => answer(request));
  const running = made.move();
  return {
    fake,
    clock,
    gateway,
    address,
    /** From now on the list has `length` items, and each page also has the members of `beside`. */
    serve(length: number, beside: object = {}) {
      answer = async (request) => {
        const reply = await serving(lookup, sampleItems(lookup, length))(request);
        return { ...reply, json: { ...Object(reply.json), ...beside } };
      };
    },
    fail: (reply: Reply = { status: 500 }) => {
      answer = () => reply;
    },
    /** The number of items that a client sees. */
    seen: async () => keysOf([await pageAt(gateway, lookup.name, address, 5)]).length,
    asked: () => fake.requestsFor(address).length,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const READERS = [
  ['the kernel', 'fast'],
  ['the plain parser', 'plain'],
] as const;

test.each(lookups.flatMap((lookup) => READERS.map((reader) => [lookup.name, ...reader, lookup] as const)))(
  'a page of %s with an error is fresh for a second, by %s',
  async (_name, _reader, readPath, lookup) => {
    await using over = await start(lookup, {}, { readPath });
    over.serve(1, anError);
    expect(await over.seen()).toBe(1);
    over.clock.advance(900);
    expect(await over.seen()).toBe(1);
    expect(over.asked()).toBe(1);
    over.serve(3);
    over.clock.advance(200);
    // Nobody gets the old page while it is fetched again.
    expect(await over.seen()).toBe(3);
    over.clock.advance(30_000);
    expect(await over.seen()).toBe(3);
    expect(over.asked()).toBe(2);
  },
);

const [transactions] = lookups as readonly [AnyLookup];

test.each(Object.entries(FAILURES))('%s is a failure', async (_what, beside) => {
  await using over = await start(transactions);
  over.serve(1, beside);
  await over.seen();
  over.clock.advance(1_100);
  await over.seen();
  expect(over.asked()).toBe(2);
});

test.each([
  ['a warning of chains that are not supported', LASTING],
  [
    'a warning of chains that can not be served',
    { warnings: [{ code: 'CHAIN_NOT_SERVED', chain_ids: [5] }] },
  ],
  ['no error', { errors: {}, warnings: [] }],
  ['null', { errors: null, warnings: null }],
])('%s is none: the page is kept as any other', async (_what, beside) => {
  await using over = await start(transactions);
  over.serve(1, beside);
  await over.seen();
  over.clock.advance(50_000);
  await over.seen();
  expect(over.asked()).toBe(1);
});

test('a page with failures is fresh no longer than others are', async () => {
  await using over = await start(transactions, { CACHE_HEAD_MS: '100' });
  over.serve(1, anError);
  await over.seen();
  over.clock.advance(150);
  over.serve(2);
  expect(await over.seen()).toBe(2);
});

test('an older page of a list with failures is fetched again as well', async () => {
  await using over = await start(transactions);
  const { gateway, address, fake } = over;
  over.serve(250);
  const [newest] = await Promise.all([pageAt(gateway, transactions.name, address, 100)]);
  over.serve(250, anError);
  const next = () => pageAt(gateway, transactions.name, address, 50, newest.pageInfo.endCursor);
  await next();
  over.clock.advance(1_100);
  await next();
  expect(fake.requestsFor(address).map(({ query }) => query.get('offset') !== null)).toEqual([
    ...[false, true, true],
  ]);
});

test('one balance and what is known of a token are fetched again after a second as well', async () => {
  await using over = await start(transactions);
  const { gateway, address, fake, clock } = over;
  fake.script.other = () => ({ json: { balances: [], tokens: [], ...anError } });
  const document = `query ($address: Address!) {
    wallet(address: $address) { balance(token: { nativeOf: 1 }) { amount } }
    token(token: { contract: { chainId: 1, address: $address } }) { market { priceUsd } }
  }`;
  fake.balances.set(address, () => ({ json: { balances: [], ...anError } }));
  fake.balances.set('native', () => ({ json: { balances: [], ...anError } }));
  const requests = async () => (await gateway.query(document, { address })).extensions.upstream.requests;
  expect(await requests()).toBe(2);
  expect(await requests()).toBe(0);
  clock.advance(1_100);
  expect(await requests()).toBe(2);
});

test.each(lookups.map((lookup) => [lookup.name, lookup] as const))(
  'a whole page of %s stands in for one that fails, although one with failures came after it',
  async (_name, lookup) => {
    await using over = await start(lookup, { CACHE_HEAD_MS: '1000' });
    over.serve(3);
    expect(await over.seen()).toBe(3);
    over.clock.advance(1_000 * (lookup.timesHead ?? 1) * 2 + 1);
    over.serve(1, anError);
    // What there is now, and not what there was: the service answers.
    expect(await over.seen()).toBe(1);
    over.fail();
    over.clock.advance(1_100);
    expect(await over.seen()).toBe(3);
    over.clock.advance(300_000);
    await expect(over.seen()).rejects.toThrow('UPSTREAM_UNAVAILABLE');
    over.serve(2);
    expect(await over.seen()).toBe(2);
  },
);

test('without a whole page, one with failures stands in; and a whole one that is too old stands in for none', async () => {
  await using over = await start(transactions, { CACHE_HEAD_MS: '2000' });
  over.serve(3);
  await over.seen();
  over.clock.advance(250_000);
  over.serve(1, anError);
  expect(await over.seen()).toBe(1);
  over.clock.advance(100_000);
  over.fail();
  expect(await over.seen()).toBe(1);
  over.clock.advance(250_000);
  await expect(over.seen()).rejects.toThrow('UPSTREAM_UNAVAILABLE');
});

test('while the service asks to wait, the whole page is served', async () => {
  await using over = await start(transactions, { CACHE_HEAD_MS: '2000' });
  over.serve(3);
  await over.seen();
  over.clock.advance(10_000);
  over.serve(1, anError);
  expect(await over.seen()).toBe(1);
  over.clock.advance(1_100);
  over.fail({ status: 503, headers: { 'retry-after': '20' } });
  expect(await over.seen()).toBe(3);
  over.clock.advance(10_000);
  expect(await over.seen()).toBe(3);
  expect(over.asked()).toBe(3);
});

test('a page with failures that took longer than a whole one replaces nothing', async () => {
  await using over = await start(transactions);
  const { gateway, address, fake } = over;
  const slow = Promise.withResolvers<Reply>();
  over.serve(1, anError);
  fake.transactions.set(address, () => slow.promise);
  const first = over.seen();
  await expect.poll(over.asked).toBe(1);
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  await deliver(deliveryUrl, { body: activity(1, address) });
  fake.transactions.set(address, serving(transactions, sampleItems(transactions, 3)));
  expect(await over.seen()).toBe(3);
  slow.resolve({ json: { transactions: sampleItems(transactions, 1), ...anError } });
  expect(await first).toBe(1);
  over.clock.advance(30_000);
  expect(await over.seen()).toBe(3);
  expect(over.asked()).toBe(2);
});

const usage = async (gateway: Gateway, address: string): Promise<Upstream & { watched?: number }> =>
  (
    await gateway.query(
      'query ($address: Address!) { wallet(address: $address) { transactions(first: 5) { nodes { hash } } } }',
      { address },
    )
  ).extensions.upstream;

test('a shared answer ends with its page', async () => {
  await using over = await start(transactions);
  const { gateway, address } = over;
  over.serve(1, anError);
  for (let poll = 0; poll < 4; poll += 1) await usage(gateway, address);
  expect(over.asked()).toBe(1);
  over.clock.advance(1_100);
  expect(await usage(gateway, address)).toMatchObject({ requests: 1, cached: 0 });
});
