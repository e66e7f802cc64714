import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { freePort } from '../../support/free-port.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { runs } from '../../support/runs.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, receiptOf, sendTransaction } from './support/contracts.ts';
import { API_KEY, spawnIndexed } from './support/service.ts';

/** What an index delivers of a real chain arrives at a real gateway, whatever happened to either. */

const WATCH = `mutation ($address: Address!) {
  watchWallet(input: { address: $address }) { __typename ... on WebhookError { code message } }
}`;

const DELIVERIES = `query ($after: String) {
  deliveries(first: 200, after: $after) {
    nodes { type attempt omitted payload }
    pageInfo { hasNextPage endCursor }
  }
}`;

type Item = Readonly<Record<string, unknown>>;
type Delivery = {
  readonly type: string;
  readonly attempt: number;
  readonly omitted: readonly string[];
  readonly payload: Record<string, Item[]>;
};
type Page = {
  readonly deliveries: {
    readonly nodes: Delivery[];
    readonly pageInfo: { hasNextPage: boolean; endCursor: string };
  };
};

/** All deliveries of a gateway's log, in its order. */
const deliveredTo = async ({ data }: Pick<Gateway, 'data'>): Promise<readonly Delivery[]> => {
  const all: Delivery[] = [];
  for (let after: string | null = null; ; ) {
    const { nodes, pageInfo }: Page['deliveries'] = (await data<Page>(DELIVERIES, { after })).deliveries;
    all.push(...nodes);
    if (!pageInfo.hasNextPage) return all;
    after = pageInfo.endCursor;
  }
};

const itemsOf = (deliveries: readonly Delivery[], type: string): readonly Item[] =>
  deliveries.flatMap((each) => (each.type === type ? (Object.values(each.payload)[0] ?? []) : []));

const watch = async ({ data }: Pick<Gateway, 'data'>, address: string): Promise<void> => {
  const { watchWallet } = await data<{ watchWallet: object }>(WATCH, { address });
  expect(watchWallet).toEqual({ __typename: 'WatchWalletPayload' });
};

const callDataOf = (bytes: number): Hex => `0x${'5a'.repeat(bytes)}`;

const pay = async (anvil: Anvil, to: Hex, value: bigint): Promise<void> => {
  const hash = await sendTransaction(anvil.url, to, '0x', { value });
  await receiptOf(anvil.url, hash);
};

const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'delivered-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

test('a block of more call data than a body may have arrives whole, and a transaction of more says what it lacks', async () => {
  await using anvil = await startAnvil({ args: ['--gas-limit', '10000000000', '--no-request-size-limit'] });
  const [, to = '0x'] = await accountsOf(anvil.url);
  await using gateway = await startGateway({ CHAINS: `31337=${anvil.url}` }, { readsChains: true });
  await watch(gateway, to);
  const transactions = async () => itemsOf(await deliveredTo(gateway), 'TRANSACTIONS');
  await anvil.rpc('evm_setAutomine', false);
  const data = callDataOf(60_000);
  for (let count = 0; count < 45; count++) await sendTransaction(anvil.url, to, data);
  await anvil.mine();
  await expect.poll(async () => (await transactions()).length).toBe(45);
  for (const [at, item] of (await transactions()).entries()) {
    expect(item.index).toBe(at);
    // It would be printed where they differ.
    expect(item.data === data).toBe(true);
  }

  await sendTransaction(anvil.url, to, callDataOf(2_000_000));
  await anvil.mine();
  await expect.poll(async () => (await transactions()).length).toBe(46);
  const all = await deliveredTo(gateway);
  expect(itemsOf(all, 'TRANSACTIONS').at(-1)).toMatchObject({ to, value: '0x0', success: true });
  const lacking = all.filter(({ omitted }) => omitted.length > 0);
  expect(lacking.map(({ type, omitted }) => [type, omitted]).toSorted()).toEqual([
    ['ACTIVITIES', ['data']],
    ['TRANSACTIONS', ['data']],
  ]);
  for (const each of lacking) expect(itemsOf([each], each.type)).toHaveLength(1);
});

test('a gateway that was away gets what its index has pending at once when it is back, in order, each once', async () => {
  await using anvil = await startAnvil();
  const [, to = '0x'] = await accountsOf(anvil.url);
  await using service = await spawnIndexed(anvil.url, await folder(), await freePort());
  const env = {
    UPSTREAM_URL: service.url,
    UPSTREAM_API_KEY: API_KEY,
    AUTH: 'open',
    DATA_DIR: await folder(),
    PORT: String(await freePort()),
  };
  await using first = await spawnGateway(env);
  await watch(first, to);
  await first.end('SIGKILL');
  const blocks = 40;
  for (let value = 1; value <= blocks; value++) await pay(anvil, to, BigInt(value));
  await service.indexed(await anvil.head());
  await expect.poll(() => service.lines.filter((line) => line.includes('deliveries wait'))).toHaveLength(1);

  await using second = await spawnGateway(env);
  await expect.poll(async () => (await deliveredTo(second)).length).toBe(3 * blocks);
  const delivered = await deliveredTo(second);
  const values = itemsOf(delivered, 'TRANSACTIONS').map(({ value }) => Number(value));
  expect(values).toEqual(Array.from({ length: blocks }, (_, index) => index + 1));
  // What was tried while nobody listened were probes of the first of each webhook: no other one has used a retry.
  expect(delivered.filter(({ attempt }) => attempt > 0).length).toBeLessThanOrEqual(3);
  expect(service.output.text).not.toContain('/deliveries/');
});

test('a service that is killed while it delivers has each event in the log of its gateway once', {
  timeout: 1_800_000,
}, async () => {
  await using anvil = await startAnvil();
  const [, to = '0x'] = await accountsOf(anvil.url);
  const [directory, port] = [await folder(), await freePort()];
  await using gateway = await startGateway({
    UPSTREAM_URL: `http://127.0.0.1:${port}`,
    UPSTREAM_API_KEY: API_KEY,
  });
  let value = 0;
  for (let kill = 0; kill < runs(20); kill++) {
    await using service = await spawnIndexed(anvil.url, directory, port);
    if (kill === 0) await watch(gateway, to);
    const before = (await deliveredTo(gateway)).length;
    for (let count = 0; count < 30; count++) await pay(anvil, to, BigInt(++value));
    // Some of what these blocks have for the three webhooks is stored, some is on its way, and some is pending.
    await expect
      .poll(async () => (await deliveredTo(gateway)).length, { interval: 5 })
      .toBeGreaterThan(before);
    await service.end('SIGKILL');
  }
  await using service = await spawnIndexed(anvil.url, directory, port);
  await service.indexed(await anvil.head());
  const numbers = Array.from({ length: value }, (_, index) => index + 1);
  await expect.poll(async () => (await deliveredTo(gateway)).length).toBeGreaterThanOrEqual(3 * value);
  const delivered = await deliveredTo(gateway);
  expect(delivered).toHaveLength(3 * value);
  expect(itemsOf(delivered, 'TRANSACTIONS').map((item) => Number(item.value))).toEqual(numbers);
  expect(itemsOf(delivered, 'ACTIVITIES').map((item) => Number(item.value))).toEqual(numbers);
  expect(new Set(itemsOf(delivered, 'BALANCES').map((item) => item.amount_after)).size).toBe(value);
});

test('what happens again on a local chain that was started anew is told again', async () => {
  await using anvil = await startAnvil();
  const [, to = '0x'] = await accountsOf(anvil.url);
  await using gateway = await startGateway({ CHAINS: `31337=${anvil.url}` }, { readsChains: true });
  await watch(gateway, to);
  const balances = async () => itemsOf(await deliveredTo(gateway), 'BALANCES');
  await pay(anvil, to, 7n);
  await expect.poll(balances).toHaveLength(1);
  await anvil.kill();
  await anvil.start();
  await pay(anvil, to, 7n);
  await expect.poll(balances).toHaveLength(2);
  const [before, again] = await balances();
  expect(again).toEqual(before);
});
