import { expect, test } from 'vitest';
import { poll } from '../support/clients/queries.ts';
import { startGateway } from '../support/gateway/start.ts';
import { freshAddress, history, transactionsEnvelope } from '../support/upstream/builders.ts';
import type { Answer } from '../support/upstream/fake-service.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Kept pages take as much of the machine as they were given, whoever asks for how many wallets. */

const wallets = 8;
/** About 150 KB, three times which a page is taken to weigh. */
const large: Answer = () => ({
  json: transactionsEnvelope(history(100).map((item) => ({ ...item, data: `0x${'00'.repeat(600)}` }))),
});

test('the cache holds CACHE_MAX_MB at most: what was used least recently goes first', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    CACHE_HEAD_MS: '60000',
    CACHE_MAX_MB: '2',
  });
  const addresses = Array.from({ length: wallets }, () => freshAddress());
  for (const address of addresses) {
    fake.transactions.set(address, large);
    await poll(gateway, address);
  }
  await poll(gateway, addresses.at(-1) ?? '');
  expect(fake.requests).toHaveLength(wallets);
  await poll(gateway, addresses[0] ?? '');
  expect(fake.requests).toHaveLength(wallets + 1);
});

test('an empty page weighs something too', async () => {
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

test('it keeps nothing when that is 0', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_MAX_MB: '0' });
  const address = freshAddress();
  await poll(gateway, address);
  await poll(gateway, address);
  expect(fake.requests).toHaveLength(2);
});
