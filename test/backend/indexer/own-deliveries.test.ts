import { expect, test, vi } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { folderOf } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { runs } from '../../support/runs.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, receiptOf, sendTransaction } from './support/contracts.ts';

/** What a gateway's own index delivers to the gateway comes without a socket. */

const CHAIN = 31_337;

const watch = async (gateway: Pick<Gateway, 'data'>, address: string) => {
  const { watchWallet } = await gateway.data<{ watchWallet: object }>(
    `mutation ($address: Address!) {
      watchWallet(input: { address: $address, types: [TRANSACTIONS] }) { __typename }
    }`,
    { address },
  );
  expect(watchWallet).toEqual({ __typename: 'WatchWalletPayload' });
};

const transfer = async ({ url }: Pick<Anvil, 'url'>, to: Hex): Promise<string> => {
  const [from = '0x'] = await accountsOf(url);
  const hash = await sendTransaction(url, to, '0x', { from, value: 1n });
  await receiptOf(url, hash);
  return hash;
};

/** The transactions of the deliveries in the log, in its order. */
const delivered = async (gateway: Pick<Gateway, 'data'>): Promise<readonly string[]> => {
  type Delivery = { payload: { transactions: readonly { hash: string }[] } };
  const { deliveries } = await gateway.data<{ deliveries: { nodes: readonly Delivery[] } }>(
    '{ deliveries(first: 1000) { nodes { payload } } }',
  );
  return deliveries.nodes.flatMap(({ payload }) => payload.transactions.map(({ hash }) => hash));
};

test('they arrive signed and are counted as others, where nobody else could reach the gateway', async () => {
  await using anvil = await startAnvil();
  const [, to = '0x'] = await accountsOf(anvil.url);
  await using gateway = await startGateway({
    CHAINS: `${CHAIN}=${anvil.url}`,
    PUBLIC_URL: 'http://127.0.0.1:9/behind/a/proxy/',
    DELIVERY_SIGNATURE_SECRET: 'a-secret-of-deliveries',
  });
  await watch(gateway, to);
  const sent = [await transfer(anvil, to), await transfer(anvil, to)];
  await expect.poll(() => delivered(gateway), { timeout: 60_000 }).toEqual(sent);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain('gateway_deliveries_total{outcome="stored"} 2\n');
  expect(metrics).toContain('gateway_http_requests_total{route="deliveries",status="2xx"} 2\n');
  expect(metrics).toMatch(/gateway_http_requests_in_flight 1\n/);
});

test('a gateway that is killed or stopped again and again has each of them once, in their order', {
  timeout: 1_800_000,
}, async () => {
  await using anvil = await startAnvil();
  await using folder = await folderOf({});
  const [, to = '0x'] = await accountsOf(anvil.url);
  const env = {
    CHAINS: `${CHAIN}=${anvil.url}`,
    PUBLIC_URL: 'http://127.0.0.1:9',
    DATA_DIR: folder.path('data'),
    PORT: String(await freePort()),
  };
  const sent: string[] = [];
  for (let round = 0; round <= runs(20, 2); round++) {
    await using gateway = await spawnGateway(env);
    if (round === 0) await watch(gateway, to);
    const before = (await delivered(gateway)).length;
    for (let count = 0; count < 5; count += 1) sent.push(await transfer(anvil, to));
    // It ends while the others are on their way.
    await vi.waitFor(
      async () => expect((await delivered(gateway)).length).toBeGreaterThan(before + (round % 4)),
      { timeout: 60_000, interval: 1 },
    );
    await gateway.end(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
  }
  await using gateway = await spawnGateway(env);
  await expect.poll(() => delivered(gateway), { timeout: 60_000 }).toEqual(sent);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
