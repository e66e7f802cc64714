import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { exchangeEncoded } from '../support/clients/encoded.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { needNginx, startNginx } from '../support/gateway/nginx.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { idOf } from '../support/gateway/trusted.ts';
import { blocksOf, readPage } from '../support/pages.ts';
import { addressOf, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The configuration of nginx in docs/caching-and-cost.md, with ports and a folder of this test. */

const WALLET = addressOf(0xca9e);
const DOCUMENT = `query { wallet(address: "${WALLET}") { transactions(first: 5) { nodes { hash } } } }`;
const extensionsOf = (text: string) =>
  JSON.stringify({ persistedQuery: { version: 1, sha256Hash: idOf(text) } });

test('nginx keeps answers by their tags, asks the gateway whether they are right, and keeps nothing else', async (context) => {
  await needNginx(context);
  await using fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(history(10)));
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '3600000', ...byToken });
  await using folder = await folderOf({});
  const port = await freePort();
  const [snippet = ''] = blocksOf(await readPage('docs/caching-and-cost.md'), 'nginx');
  const configured = snippet
    .replace('/var/cache/nginx/gateway', folder.path('cache'))
    .replace('http://127.0.0.1:4000', gateway.url)
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`);
  await using _nginx = await startNginx(port, configured);

  const [alice, bob] = [bearer(await tokenOf({ sub: 'alice' })), bearer(await tokenOf({ sub: 'bob' }))];
  const get = (search: Record<string, string>, headers: Record<string, string> = alice) =>
    exchangeEncoded(`http://127.0.0.1:${port}/graphql?${new URLSearchParams(search)}`, 'GET', {
      accept: 'application/json',
      ...headers,
    });
  const byHash = { extensions: extensionsOf(DOCUMENT) };
  /** How often the gateway was asked, and how often it said that a copy is right. */
  const counts = async () => {
    const figures = await scrape(gateway.url);
    return [
      figures.sum('gateway_http_requests_total', { route: 'graphql' }),
      figures.sum('gateway_unchanged_answers_total'),
    ];
  };

  // The answer to a hash that is not known is not kept.
  const unknown = await get(byHash);
  expect(JSON.parse(unknown.text).errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
  const sent = await get({ query: DOCUMENT, ...byHash });
  expect([sent.status, sent.headers['x-cache']]).toEqual([200, 'MISS']);

  const first = await get(byHash);
  expect([first.status, first.headers['x-cache']]).toEqual([200, 'MISS']);
  expect(JSON.parse(first.text).data.wallet.transactions.nodes).toHaveLength(5);
  const [asked] = await counts();
  const kept = await get(byHash);
  expect([kept.headers['x-cache'], kept.text]).toEqual(['HIT', first.text]);
  expect((await get(byHash, { ...alice, 'if-none-match': String(first.headers.etag) })).status).toBe(304);
  expect((await counts())[0]).toBe(asked);
  expect((await get(byHash, bob)).headers['x-cache']).toBe('MISS');
  const other = await get({ query: '{ __typename }' });
  expect(other.headers['x-cache']).toBe('MISS');
  expect((await get({ query: '{ __typename }' })).headers['x-cache']).toBe('MISS');

  await sleep(2100);
  const before = await counts();
  const later = await get(byHash);
  expect([later.headers['x-cache'], later.text]).toEqual(['REVALIDATED', first.text]);
  expect(await counts()).toEqual(before.map((count) => count + 1));
  expect(fake.requestsFor(WALLET)).toHaveLength(1);

  // A subscription is neither kept nor held back.
  const search = new URLSearchParams({ query: 'subscription { deliveries { cursor } }' });
  const stream = await fetch(`http://127.0.0.1:${port}/graphql?${search}`, {
    headers: { accept: 'text/event-stream', ...alice },
  });
  const { value } = (await stream.body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value)).toBe(':\n\n');
});
