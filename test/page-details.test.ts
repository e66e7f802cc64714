import { expect, test } from 'vitest';
import { codesOf, startGateway } from './support/gateway.ts';
import { freshAddress, transaction, transactionsEnvelope } from './support/make.ts';
import { poll, sleep } from './support/poll.ts';
import { startFakeWallets } from './support/wallets.ts';

/** Who wants decoded calls finds a page with them when the service fails, whoever has asked for less meanwhile. */

const DECODED = `query ($address: Address!) {
  wallet(address: $address) { transactions { nodes { decoded { name } } } }
}`;

/** A wallet with one transaction, decoded when asked; no kept page is fresh. */
const startOver = async (env: Record<string, string> = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', ...env }));
  const address = freshAddress();
  fake.transactions.set(address, ({ query }) => {
    const decoded = query.get('decode') === 'true' && { decoded: { name: 'transfer', inputs: [] } };
    return { json: transactionsEnvelope([transaction({ ...decoded })]) };
  });
  return {
    fake,
    plain: () => poll(gateway, address),
    decoded: () => gateway.query(DECODED, { address }),
    fail: () => fake.transactions.set(address, () => ({ status: 500 })),
    asked: () => fake.requests.map(({ query }) => query.get('decode') === 'true'),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

test('a page that is asked for with less takes the place of none with more', async () => {
  await using over = await startOver();
  await over.decoded();
  for (let turn = 0; turn < 3; turn += 1) expect(codesOf(await over.plain())).toEqual([]);
  over.fail();
  const reply = await over.decoded();
  expect(codesOf(reply)).toEqual([]);
  expect(reply.data).toEqual({ wallet: { transactions: { nodes: [{ decoded: { name: 'transfer' } }] } } });
  expect(over.asked()).toEqual([true, true, true, true, true]);
});

test('details that nobody has wanted for as long as a page stands in are not asked for', async () => {
  await using over = await startOver({ CACHE_STALE_MS: '100' });
  await over.plain();
  await over.decoded();
  await sleep(150);
  await over.plain();
  expect(over.asked()).toEqual([false, true, false]);
});
