import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectUnchanged, ifNot, notStored, tagOf } from '../../support/clients/conditional.ts';
import { deliver } from '../../support/clients/deliver.ts';
import { exchangeEncoded } from '../../support/clients/encoded.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { idOf, pathOf, startTrusting, type Trusting } from '../../support/gateway/trusted.ts';
import { freshAddress, history, transactionsEnvelope } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

const TRANSACTIONS = `query Transactions($address: Address!, $first: Int = 10) {
  wallet(address: $address) { transactions(first: $first) { nodes { hash value } partialErrors } }
}`;
const BOTH = `query Both($address: Address!) {
  wallet(address: $address) { transactions(first: 1) { nodes { hash } } collectibles(first: 1) { nodes { id } } }
}`;
const BESIDE_ANOTHER = `query Beside($address: Address!) {
  wallet(address: $address) { transactions(first: 1) { nodes { hash } } }
  deliveries { head }
}`;
const OF_CHAINS = `query OfChains($address: Address!) {
  wallet(address: $address) { transactions(first: 1) { nodes { hash } } }
  token(token: { nativeOf: 1 }) { chainInfo { name } }
}`;
const NO_PAGE = 'query NoPage($address: Address!) { wallet(address: $address) { id } }';
const URL = 'query Url { deliveryUrl }';
const DOCUMENTS = [TRANSACTIONS, BOTH, BESIDE_ANOTHER, OF_CHAINS, NO_PAGE, URL];

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());

let fake: FakeWallets;
let gateway: Trusting;
const clock = createTestClock();
beforeAll(async () => {
  fake = made.use(await startFakeWallets());
  gateway = made.use(await startTrusting(DOCUMENTS, { UPSTREAM_URL: fake.url }, clock));
});

let address = '';
beforeEach(() => {
  address = freshAddress();
  grow(30);
});

/** Makes upstream send this many items of the wallet from now on. */
const grow = (count: number): void => {
  fake.transactions.set(address, servingTransactions(history(count)));
};

const get = (headers: Record<string, string> = {}, variables = {}, document = TRANSACTIONS) =>
  gateway.get(document, { address, ...variables }, headers);

/** How many operations were answered without data, by what was compared. */
const unchangedBy = async (compared: 'pages' | 'data', { url }: Pick<Trusting, 'url'> = gateway) =>
  (await scrape(url)).sum('gateway_unchanged_answers_total', { compared });

test('a GET of a trusted document says how long it is right, and is not made again while its pages are the same', async () => {
  const before = await unchangedBy('pages');
  const first = await get();
  expect(first.status).toBe(200);
  expect(tagOf(first)).toMatch(/^"[\w-]{22}\.[\w-]{22}"$/);
  expect(first.headers).toMatchObject({ 'cache-control': 'private, max-age=1' });
  expect(first.headers.vary).toBe('Accept-Encoding, Origin, Accept');
  clock.advance(1000);
  const again = await get(ifNot(tagOf(first)));
  expectUnchanged(again);
  expect(again.headers).toMatchObject({
    etag: tagOf(first),
    'cache-control': 'private, no-cache',
    vary: 'Accept-Encoding, Origin, Accept',
    'x-content-type-options': 'nosniff',
  });
  expect(again.headers['x-request-id']).toBeDefined();
  expect(fake.requestsFor(address)).toHaveLength(1);
  expect((await unchangedBy('pages')) - before).toBe(1);
});

test('a tag is strong: answers with one tag are the same, byte for byte', async () => {
  const answers = [await get(), await get(), await get(), await get({}, { first: 5 })];
  const [fetched, cached, kept, other] = answers.map(tagOf);
  // The first one says that it has made a request.
  expect(fetched).not.toBe(cached);
  expect(kept).toBe(cached);
  expect(answers[2]?.text).toBe(answers[1]?.text);
  expect(other?.slice(0, 23)).not.toBe(cached?.slice(0, 23));
  // What another answer has cost does not make it wrong.
  expectUnchanged(await get(ifNot(String(fetched))));
  expectUnchanged(await get(ifNot(String(cached))));
});

test('a page that was fetched again makes another answer, unless it says the same', async () => {
  const before = await unchangedBy('data');
  const first = await get();
  clock.advance(3_600_000);
  expectUnchanged(await get(ifNot(tagOf(first))));
  expect((await unchangedBy('data')) - before).toBe(1);
  grow(31);
  clock.advance(3_600_000);
  const changed = await get(ifNot(tagOf(first)));
  expect(changed.status).toBe(200);
  expect(tagOf(changed)).not.toBe(tagOf(first));
  expect(JSON.parse(changed.text).data).not.toEqual(JSON.parse(first.text).data);
  expect(fake.requestsFor(address)).toHaveLength(3);
});

test('a delivery that names the address is seen at once', async () => {
  const first = await get();
  const { data } = JSON.parse((await get({}, {}, URL)).text);
  expect(await deliver(data.deliveryUrl, { body: { transactions: [{ address, from: address }] } })).toBe(200);
  grow(31);
  const next = await get(ifNot(tagOf(first)));
  expect(next.status).toBe(200);
  expect(JSON.parse(next.text).extensions.upstream.requests).toBe(1);
});

describe('If-None-Match', () => {
  test.each<[what: string, value: (tag: string) => string]>([
    ['the tag', (tag) => tag],
    ['a weak one', (tag) => `W/${tag}`],
    ['a list', (tag) => `"x", W/"y" ,,\t${tag} , "z"`],
    ['any tag', () => ' * '],
    ['the tag in a coding', (tag) => `${tag.slice(0, -1)}-gzip"`],
  ])('with %s is answered 304', async (_what, value) => {
    const first = await get();
    expectUnchanged(await get({ 'if-none-match': value(tagOf(first)) }));
  });

  test.each<[what: string, value: (tag: string) => string]>([
    ['another tag', () => '"x"'],
    ['no quotes', (tag) => tag.slice(1, -1)],
    ['a part of the tag', (tag) => `${tag.slice(0, 20)}"`],
    ['more behind the tag', (tag) => `${tag} x`],
    ['a list that is none', (tag) => `${tag} "x"`],
    ['nothing', () => ''],
    ['commas', () => ','.repeat(8000)],
    ['quotes', () => '"'.repeat(8000)],
  ])('with %s is answered 200', async (_what, value) => {
    const first = await get();
    const again = await get({ 'if-none-match': value(tagOf(first)) });
    expect(again.status).toBe(200);
    expect(JSON.parse(again.text).data).toEqual(JSON.parse(first.text).data);
  });

  test('with a tag that this gateway has not sent, as after a restart, is answered by its own answer', async () => {
    await using other = await startTrusting(DOCUMENTS, { UPSTREAM_URL: fake.url });
    const first = await other.get(TRANSACTIONS, { address });
    const requests = fake.requestsFor(address).length;
    const again = await get(ifNot(tagOf(first)));
    expectUnchanged(again);
    expect(fake.requestsFor(address)).toHaveLength(requests + 1);
  });
});

test('each coding has a tag of its own, and each tag is answered 304', async () => {
  const plain = await get({}, { first: 25 });
  const tags = new Set([tagOf(plain)]);
  for (const coding of ['zstd', 'br', 'gzip']) {
    const encoded = await get({ 'accept-encoding': coding }, { first: 25 });
    expect(encoded.headers['content-encoding']).toBe(coding);
    tags.add(tagOf(encoded));
    expectUnchanged(await get({ ...ifNot(tagOf(encoded)), 'accept-encoding': coding }, { first: 25 }));
    expectUnchanged(await get(ifNot(tagOf(encoded)), { first: 25 }));
  }
  expect(tags.size).toBe(4);
});

describe('no-store, and no tag, is on', () => {
  test('an answer with an error, and one that is partial', async () => {
    fake.transactions.set(address, () => ({ status: 500 }));
    const failed = await get();
    expect(JSON.parse(failed.text).errors).toHaveLength(1);
    notStored(failed);
    address = freshAddress();
    fake.transactions.set(address, () => ({
      json: transactionsEnvelope(history(3), { errors: { message: 'a chain is missing' } }),
    }));
    const partial = await get();
    expect(JSON.parse(partial.text).data.wallet.transactions.partialErrors).not.toBeNull();
    notStored(partial);
    notStored(await get());
    notStored(await get(ifNot('*')));
  });

  test('an answer that holds more than pages, or none', async () => {
    for (const document of [BESIDE_ANOTHER, OF_CHAINS, NO_PAGE, URL]) {
      const answer = await get(ifNot('*'), {}, document);
      expect([answer.status, JSON.parse(answer.text).errors]).toEqual([200, undefined]);
      notStored(answer);
    }
  });

  test('an answer to a POST, to a HEAD, and on an event stream', async () => {
    await get();
    const body = JSON.stringify({ documentId: idOf(TRANSACTIONS), variables: { address } });
    const type = { 'content-type': 'application/json' };
    const posted = await exchangeEncoded(`${gateway.url}/graphql`, 'POST', { ...type, ...ifNot('*') }, body);
    expect(posted.status).toBe(200);
    notStored(posted);
    const head = await exchangeEncoded(gateway.url + pathOf(TRANSACTIONS, { address }), 'HEAD', ifNot('*'));
    expect(head.status).toBe(405);
    notStored(head);
    for (const accept of ['text/event-stream', 'TEXT/*', 'application/json, text/event-stream']) {
      const stream = await get({ ...ifNot('*'), accept });
      expect(stream.status).toBe(200);
      expect(stream.text).toContain('"hash"');
      expect(stream.headers).not.toHaveProperty('etag');
    }
  });

  test('a document that is refused, and every one where none are trusted', async () => {
    const refused = await get(ifNot('*'), {}, '{ __typename }');
    expect(JSON.parse(refused.text).errors).toHaveLength(1);
    notStored(refused);
    await using open = await startTrusting([], { UPSTREAM_URL: fake.url, TRUSTED_DOCUMENTS: undefined });
    const query = encodeURIComponent(TRANSACTIONS);
    const url = `${open.url}/graphql?query=${query}&variables=${JSON.stringify({ address })}`;
    const answer = await exchangeEncoded(url, 'GET', ifNot('*'));
    expect(answer.status).toBe(200);
    notStored(answer);
  });
});

test('max-age is that of the page that gets stale first, and 0 is no-cache', async () => {
  const ages = { CACHE_HEAD_MS: '90000', CACHE_NEWEST_MS: 'collectibles=30000' };
  await using long = await startTrusting(DOCUMENTS, { UPSTREAM_URL: fake.url, ...ages }, clock);
  const control = async (document: string, on: Trusting) =>
    (await on.get(document, { address })).headers['cache-control'];
  expect(await control(BOTH, long)).toBe('private, max-age=29');
  clock.advance(10_000);
  expect(await control(BOTH, long)).toBe('private, max-age=19');
  expect(await control(TRANSACTIONS, long)).toBe('private, max-age=79');
  await using none = await startTrusting(DOCUMENTS, { UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0' });
  expect(await control(TRANSACTIONS, none)).toBe('private, no-cache');
  const tag = tagOf(await none.get(TRANSACTIONS, { address }));
  expectUnchanged(await none.get(TRANSACTIONS, { address }, ifNot(tag)));
});

test('the log says of an operation that its client has the answer', async () => {
  const first = await get();
  await get({ ...ifNot(tagOf(first)), 'x-request-id': 'unchanged' });
  const [line] = gateway.logLines.filter((each) => each.includes('"requestId":"unchanged"'));
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 'debug',
    msg: 'operation answered',
    type: 'query',
    unchanged: 'pages',
    requests: 0,
    cached: 1,
  });
});
