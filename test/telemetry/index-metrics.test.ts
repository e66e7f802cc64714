import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../backend/dispatch/support/receiver.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from '../backend/indexer/support/contracts.ts';
import { startFaultyNode } from '../backend/indexer/support/faulty-node.ts';
import { spawnIndexed } from '../backend/indexer/support/service.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';

/** What an operator sees of an index, embedded and alone, while its node answers and while it does not. */

const CHAIN = '31337';
const OUTCOMES = ['ok', 'refused', 'unavailable'];

type Scrape = Awaited<ReturnType<typeof scrape>>;

/** The value of a chain's metric; undefined where it is not shown. */
const of = ({ series }: Scrape, name: string): number | undefined =>
  series.get(`gateway_index_${name}{chain="${CHAIN}"}`);

const callsOf = ({ sum }: Scrape, labels: Readonly<Record<string, string>>): number =>
  sum('gateway_index_node_calls_total', { chain: CHAIN, ...labels });

const namesOf = ({ series }: Scrape): readonly string[] =>
  [...series.keys()].filter((name) => name.startsWith('gateway_index_'));

const pay = async (url: string): Promise<void> => {
  const [from = '0x', to = '0x'] = await accountsOf(url);
  await receiptOf(url, await sendTransaction(url, to, '0x', { from, value: 1n }));
};

const readinessOf = async ({ url }: { readonly url: string }) => {
  const response = await fetch(`${url}/health/ready`);
  return [response.status, await response.json()];
};

test('a gateway shows of each chain how far it is and what its node answers, and a node that fails while it does', async () => {
  await using anvil = await startAnvil();
  for (let count = 0; count < 3; count += 1) await pay(anvil.url);
  await using node = await startFaultyNode(anvil.url);
  node.faults.call = ({ method }, ask) =>
    method === 'eth_getBlockReceipts' ? { error: { code: -32601, message: 'method not found' } } : ask();
  const withPassword = node.url.replace('//', '//user:a-password@');
  await using gateway = await startGateway({ CHAINS: `${CHAIN}=${withPassword}` });
  const now = () => scrape(gateway.url);
  await expect.poll(async () => of(await now(), 'blocks_total')).toBe(4);

  const good = await now();
  const shown = (name: string) => of(good, name) ?? Number.NaN;
  expect([shown('head'), shown('blocks_behind'), shown('problem'), shown('transactions_total')]).toEqual([
    3, 0, 0, 3,
  ]);
  const genesis = Date.now() / 1000 - 3600;
  expect(shown('head_timestamp_seconds')).toBeGreaterThan(genesis);
  expect(shown('head_seen_timestamp_seconds')).toBeGreaterThanOrEqual(shown('head_timestamp_seconds'));
  expect(shown('head_seen_timestamp_seconds')).toBeLessThanOrEqual(Date.now() / 1000);
  expect(good.sum('gateway_index_bytes', { part: 'database' })).toBeGreaterThan(0);
  expect(good.sum('gateway_index_bytes', { part: 'wal' })).toBeGreaterThan(0);
  const asked = (name: string) => node.requests.flat().filter(({ method }) => method === name).length;
  for (const [method, outcome] of [
    ['eth_getBlockReceipts', 'refused'],
    ['eth_getTransactionReceipt', 'ok'],
  ] as const) {
    expect(asked(method)).toBeGreaterThan(0);
    expect([method, callsOf(good, { method, outcome })]).toEqual([method, asked(method)]);
  }
  const timed = good.sum('gateway_index_node_call_duration_seconds_count', { chain: CHAIN });
  expect(OUTCOMES.reduce((calls, outcome) => calls + callsOf(good, { outcome }), 0)).toBe(timed);
  const index = { head: 3, indexedFrom: 0, indexedTo: 3, behind: 0 };
  const progress = { chain_id: Number(CHAIN), index: expect.objectContaining(index) };
  expect(await readinessOf(gateway)).toEqual([200, { status: 'ready', chains: [progress] }]);

  node.faults.request = (_calls, response) => {
    response.writeHead(503).end();
    return true;
  };
  await expect.poll(async () => of(await now(), 'problem')).toBe(1);
  const bad = await now();
  expect(callsOf(bad, { outcome: 'unavailable' })).toBeGreaterThan(callsOf(good, { outcome: 'unavailable' }));
  const seenAt = of(bad, 'head_seen_timestamp_seconds');
  await pay(anvil.url);
  // A node that asks to wait has not answered either.
  node.faults.request = undefined;
  node.faults.call = () => ({ error: { code: -32005, message: 'limit exceeded' } });
  const failures = callsOf(bad, { outcome: 'unavailable' });
  await expect.poll(async () => callsOf(await now(), { outcome: 'unavailable' })).toBeGreaterThan(failures);
  const later = await now();
  expect([of(later, 'head'), of(later, 'blocks_total'), of(later, 'head_seen_timestamp_seconds')]).toEqual([
    3,
    4,
    seenAt,
  ]);
  const reason = { part: 'index', message: expect.stringContaining(`chain ${CHAIN}: node ${node.url}: `) };
  const failing = {
    chain_id: Number(CHAIN),
    index: expect.objectContaining({ problem: expect.any(String) }),
  };
  await expect
    .poll(() => readinessOf(gateway))
    .toEqual([200, { status: 'degraded', reasons: [reason], chains: [failing] }]);

  const text =
    JSON.stringify(await readinessOf(gateway)) + (await (await fetch(`${gateway.url}/metrics`)).text());
  expect(text).not.toContain('a-password');

  node.faults.call = undefined;
  await expect.poll(async () => of(await now(), 'blocks_total')).toBe(5);
  const back = await now();
  expect([of(back, 'head'), of(back, 'problem'), of(back, 'transactions_total')]).toEqual([4, 0, 4]);
  expect(of(back, 'head_seen_timestamp_seconds')).toBeGreaterThan(seenAt ?? Number.NaN);
  await expect.poll(async () => (await readinessOf(gateway))[1]).toMatchObject({ status: 'ready' });
});

test('blocks that the node does not trace are shown, and their chain goes on', async () => {
  await using anvil = await startAnvil();
  const payer = await deploy(anvil.url, 'Payer');
  const [to = '0x'] = await accountsOf(anvil.url);
  await using node = await startFaultyNode(anvil.url);
  node.faults.call = ({ method }, ask) =>
    /^(debug|trace)_/.test(method) ? { error: { code: -32603, message: 'out of memory' } } : ask();
  await using gateway = await startGateway({ CHAINS: `${CHAIN}=${node.url}` });
  await payer.mine('split', [[to]], { value: 2n });
  const now = () => scrape(gateway.url);
  const traces = async () => {
    const shown = await now();
    return [of(shown, 'traces_behind'), of(shown, 'traces_problem')];
  };
  // The block that deploys the contract, and the one that calls it.
  await expect.poll(traces).toEqual([2, 1]);
  await expect.poll(async () => of(await now(), 'blocks_total')).toBe(3);
  expect(of(await now(), 'problem')).toBe(0);
  expect((await readinessOf(gateway))[1]).toMatchObject({ status: 'ready' });
  node.faults.call = undefined;
  await expect.poll(traces).toEqual([0, 0]);
});

test('while the index itself does not run, its chains have a problem, nothing is shown of them, and counts stay', async () => {
  await using anvil = await startAnvil();
  await anvil.mine(2);
  await using folder = await folderOf({});
  const threads: Worker[] = [];
  const add = (worker: Worker) => threads.push(worker);
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  await using gateway = await startGateway({
    CHAINS: `${CHAIN}=${anvil.url}`,
    DATA_DIR: folder.path('.'),
  });
  const now = () => scrape(gateway.url);
  await expect.poll(async () => of(await now(), 'blocks_total')).toBe(3);

  // What another process has open can't be opened by the thread that replaces the one that has ended.
  const other = new DatabaseSync(join(folder.path('index'), 'index.sqlite'), { timeout: 0 });
  const isTaken = (): boolean => {
    try {
      other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
      return true;
    } catch {
      return false;
    }
  };
  do {
    const thread = threads.at(-1);
    const ended = thread && thread.threadId > 0 && once(thread, 'exit');
    await thread?.terminate();
    await ended;
  } while (!isTaken());
  const silent = await now();
  expect([of(silent, 'problem'), of(silent, 'head'), of(silent, 'blocks_total')]).toEqual([1, undefined, 3]);
  expect(silent.series.has('gateway_index_pending_deliveries')).toBe(false);
  const reason = { part: 'index', message: expect.stringMatching(/^the index does not answer/) };
  await expect
    .poll(() => readinessOf(gateway))
    .toEqual([200, { status: 'degraded', reasons: [reason], chains: [] }]);
  other.close();
  await expect.poll(async () => of(await now(), 'problem')).toBe(0);
  expect(of(await now(), 'head')).toBe(2);
});

test('npm run service shows the same without a key, and the deliveries that are pending', async () => {
  await using anvil = await startAnvil();
  await using folder = await folderOf({});
  await using refusing = await startReceiver(() => 500);
  await using taking = await startReceiver();
  await using service = await spawnIndexed(anvil.url, folder.path('index'), await freePort());
  await service.indexed(0);
  const [from = '0x'] = await accountsOf(anvil.url);
  const refused = await service.subscribe('transactions', refusing.url, [from]);
  await service.subscribe('transactions', taking.url, [from]);
  const before = Date.now() / 1000;
  await pay(anvil.url);
  const now = () => scrape(service.url);
  const ended = async (outcome: string) => (await now()).sum('gateway_index_deliveries_total', { outcome });
  await expect.poll(() => ended('accepted')).toBe(1);
  await expect.poll(() => ended('retried')).toBe(1);
  const shown = await now();
  expect([await ended('abandoned'), await ended('dropped')]).toEqual([0, 0]);
  expect([of(shown, 'head'), of(shown, 'problem'), of(shown, 'blocks_total')]).toEqual([1, 0, 2]);
  expect(shown.sum('gateway_index_pending_deliveries')).toBe(1);
  const oldest = shown.sum('gateway_index_oldest_pending_delivery_timestamp_seconds');
  expect(oldest).toBeGreaterThanOrEqual(before);
  expect(oldest).toBeLessThanOrEqual(Date.now() / 1000);
  expect(shown.families.has('process_resident_memory_bytes')).toBe(true);
  expect(shown.sum('gateway_build_info')).toBe(1);

  await service.ask(`/beta/evm/subscriptions/webhooks/${refused}`, { method: 'DELETE' });
  const settled = await now();
  expect(settled.sum('gateway_index_pending_deliveries')).toBe(0);
  expect(settled.series.has('gateway_index_oldest_pending_delivery_timestamp_seconds')).toBe(false);
  expect((await fetch(`${service.url}/metrics`, { method: 'POST' })).status).toBe(405);
});

test('a gateway without an index shows nothing of one', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  expect(namesOf(await scrape(gateway.url))).toEqual([]);
  expect(await readinessOf(gateway)).toEqual([200, { status: 'ready' }]);
});
