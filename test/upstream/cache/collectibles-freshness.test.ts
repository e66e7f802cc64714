import { expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** Collectibles change rarely and cost a compute unit per chain, so their newest page stays fresh for longer. */

const DASHBOARD = `query ($address: Address!) {
  wallet(address: $address) { transactions { nodes { hash } } collectibles { nodes { tokenId } } }
}`;

const startPolled = async (env: Record<string, string | undefined> = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const clock = createTestClock();
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, ...env }, clock));
  const address = freshAddress();
  const asked = (resource: string) =>
    fake.requestsFor(address).filter(({ path }) => path.includes(resource)).length;
  return {
    gateway,
    address,
    clock,
    poll: () => gateway.data(DASHBOARD, { address }),
    asked: () => ({ transactions: asked('transactions'), collectibles: asked('collectibles') }),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

const deliveryUrlOf = async (gateway: Gateway) =>
  (await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }')).deliveryUrl;

test('a dashboard that polls causes a request for transactions each time, and for collectibles every 30 s', async () => {
  await using over = await startPolled();
  for (let polls = 0; polls < 6; polls += 1) {
    await over.poll();
    over.clock.advance(4_500);
  }
  expect(over.asked()).toEqual({ transactions: 6, collectibles: 1 });
  over.clock.advance(60_000);
  await over.poll();
  expect(over.asked()).toEqual({ transactions: 7, collectibles: 2 });
});

test.each([
  ['15 times CACHE_HEAD_MS when it is not set', { CACHE_HEAD_MS: '4000' }, 1],
  ['its own when it is set', { CACHE_HEAD_MS: '4000', CACHE_NEWEST_MS: 'collectibles=1000' }, 2],
  ['its own also without CACHE_HEAD_MS', { CACHE_HEAD_MS: '0', CACHE_NEWEST_MS: 'collectibles=60000' }, 1],
  ['off when CACHE_HEAD_MS is', { CACHE_HEAD_MS: '0' }, 2],
  ['off by 0', { CACHE_NEWEST_MS: 'collectibles=0' }, 2],
])('the time that they stay fresh is %s', async (_what, env, collectibles) => {
  await using over = await startPolled(env);
  await over.poll();
  over.clock.advance(50_000);
  await over.poll();
  expect(over.asked()).toEqual({ transactions: 2, collectibles });
});

test('a delivery for the wallet invalidates them at once', async () => {
  await using over = await startPolled();
  const url = await deliveryUrlOf(over.gateway);
  await over.poll();
  const body = { activities: [{ chain_id: 1, tx_from: over.address, type: 'mint', asset_type: 'erc721' }] };
  expect(await deliver(url, { body })).toBe(200);
  await over.poll();
  expect(over.asked()).toEqual({ transactions: 2, collectibles: 2 });
});

test('ten wallets with both lists are within what one operation may cost by default', async () => {
  await using over = await startPolled();
  const addresses = Array.from({ length: 10 }, freshAddress);
  const lists = 'transactions(first: 100) { nodes { hash } } collectibles { nodes { tokenId } }';
  const document = `query ($addresses: [Address!]!) { wallets(addresses: $addresses) { ${lists} } }`;
  expect((await over.gateway.query(document, { addresses })).errors).toBeUndefined();
});
