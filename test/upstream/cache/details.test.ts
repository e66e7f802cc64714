import { expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { poll, sleep } from '../../support/clients/queries.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import { freshAddress, transaction, transactionsEnvelope } from '../../support/upstream/builders.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/**
 * If upstream fails, a client that asks for decoded calls gets a stale page with them, even if others have asked for less
 * since.
 */

const DECODED = `query ($address: Address!) {
  wallet(address: $address) { transactions { nodes { decoded { name } } } }
}`;

/** Starts with a wallet of one transaction, decoded on request. No cached page is fresh. */
const startOver = async (env: Record<string, string> = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', ...env }));
  const address = freshAddress();
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  let answering = Promise.resolve();
  fake.transactions.set(address, async ({ query }) => {
    await answering;
    const decoded = query.get('decode') === 'true' && { decoded: { name: 'transfer', inputs: [] } };
    return { json: transactionsEnvelope([transaction({ ...decoded })]) };
  });
  return {
    /** Has upstream wait with its answers until the returned function is called. */
    hold() {
      const held = Promise.withResolvers<void>();
      answering = held.promise;
      return held.resolve;
    },
    invalidation: () => deliver(deliveryUrl, { body: { transactions: [{ address, from: address }] } }),
    plain: () => poll(gateway, address),
    decoded: () => gateway.query(DECODED, { address }),
    fail: () => fake.transactions.set(address, () => ({ status: 500 })),
    asked: () => fake.requests.map(({ query }) => query.get('decode') === 'true'),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

test('a page without details does not replace one with details', async () => {
  await using over = await startOver();
  await over.decoded();
  for (let turn = 0; turn < 3; turn += 1) expect(codesOf(await over.plain())).toEqual([]);
  over.fail();
  const reply = await over.decoded();
  expect(codesOf(reply)).toEqual([]);
  expect(reply.data).toEqual({ wallet: { transactions: { nodes: [{ decoded: { name: 'transfer' } }] } } });
  expect(over.asked()).toEqual([true, true, true, true, true]);
});

test('a page without details does not replace one with details that was in flight during an invalidation', async () => {
  await using over = await startOver();
  const goOn = over.hold();
  const decoding = over.decoded();
  await eventually(() => over.asked().length === 1);
  expect(await over.invalidation()).toBe(200);
  const plain = over.plain();
  await eventually(() => over.asked().length === 2);
  goOn();
  expect((await Promise.all([decoding, plain])).flatMap(codesOf)).toEqual([]);
  over.fail();
  expect(codesOf(await over.decoded())).toEqual([]);
  expect(over.asked()).toEqual([true, true, true]);
});

test('details that no client has asked for within CACHE_STALE_MS are not requested', async () => {
  await using over = await startOver({ CACHE_STALE_MS: '100' });
  await over.plain();
  await over.decoded();
  await sleep(150);
  await over.plain();
  expect(over.asked()).toEqual([false, true, false]);
});
