import { expect, test } from 'vitest';
import { poll } from '../../support/clients/queries.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { freshAddress, history, transactionsEnvelope } from '../../support/upstream/builders.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** Cached pages take no more memory than CACHE_MAX_MB, however many wallets clients ask for. */

const wallets = 8;
/** About 150 KB. The budget counts the bytes that are kept and their index; three times as many of values in memory. */
const page = transactionsEnvelope(history(100).map((item) => ({ ...item, data: `0x${'00'.repeat(600)}` })));

test.each([
  ['bytes', 'fast'],
  ['values', 'plain'],
] as const)(
  'the cache has CACHE_MAX_MB of %s at most, and evicts the least recently used page first',
  async (_of, readPath) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway(
      { UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '60000', CACHE_MAX_MB: '1' },
      { readPath },
    );
    const addresses = Array.from({ length: wallets }, () => freshAddress());
    for (const address of addresses) {
      fake.transactions.set(address, () => ({ json: page }));
      await poll(gateway, address);
    }
    await poll(gateway, addresses.at(-1) ?? '');
    expect(fake.requests).toHaveLength(wallets);
    await poll(gateway, addresses[0] ?? '');
    expect(fake.requests).toHaveLength(wallets + 1);
  },
);

test('a page that is kept as bytes counts what it takes: its bytes and their index', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url }, { readPath: 'fast' });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ json: page }));
  await poll(gateway, address);
  const { sum } = await scrape(gateway.url);
  const bodyBytes = JSON.stringify(page).length;
  expect(sum('gateway_page_cache_bytes')).toBeGreaterThan(bodyBytes);
  expect(sum('gateway_page_cache_bytes')).toBeLessThan(bodyBytes * 1.5);
});

test('an empty page counts as well', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    CACHE_HEAD_MS: '60000',
    CACHE_MAX_MB: '1',
  });
  const [first = '', ...others] = Array.from({ length: 600 }, () => freshAddress());
  await poll(gateway, first);
  const all = 'query ($all: [Address!]!) { wallets(addresses: $all) { transactions { nodes { hash } } } }';
  for (let start = 0; start < others.length; start += 100)
    await gateway.data(all, { all: others.slice(start, start + 100) });
  expect(fake.requests).toHaveLength(600);
  await poll(gateway, first);
  expect(fake.requests).toHaveLength(601);
});

test('CACHE_MAX_MB=0 caches nothing', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_MAX_MB: '0' });
  const address = freshAddress();
  await poll(gateway, address);
  await poll(gateway, address);
  expect(fake.requests).toHaveLength(2);
});
