import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { folderOf } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { PROGRAM, spawnGateway, spawnProgram } from '../../support/gateway/spawn.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { root } from '../../support/pages.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, receiptOf, sendTransaction } from './support/contracts.ts';

/** A gateway over chains of its own, as an operator starts and loses it. */

const CHAIN = 31_337;

const WATCH = `mutation ($address: Address!) {
  watchWallet(input: { address: $address }) { __typename ... on WebhookError { code message } }
}`;

const indexOf = async (gateway: Pick<Gateway, 'data'>) => {
  const { chain } = await gateway.data<{ chain: { index: { head: string; problem: string | null } | null } }>(
    `{ chain(chainId: ${CHAIN}) { index { head problem } } }`,
  );
  return chain.index;
};

const untilAt = (gateway: Pick<Gateway, 'data'>, head: number) =>
  vi.waitFor(
    async () => expect(await indexOf(gateway)).toEqual({ head: String(head), problem: null }),
    60_000,
  );

const valuesOf = async (gateway: Pick<Gateway, 'data'>, address: string) => {
  const { wallet } = await gateway.data<{ wallet: { transactions: { nodes: { value: string }[] } } }>(
    `{ wallet(address: "${address}") { transactions { nodes { value } } } }`,
  );
  return wallet.transactions.nodes.map(({ value }) => value);
};

/** The deliveries in the log, by type and by the attempt at which they came. */
const deliveredTo = async (gateway: Pick<Gateway, 'data'>): Promise<readonly string[]> => {
  const { deliveries } = await gateway.data<{ deliveries: { nodes: { type: string; attempt: number }[] } }>(
    '{ deliveries(first: 10) { nodes { type attempt } } }',
  );
  return deliveries.nodes.map(({ type, attempt }) => `${type} ${attempt}`).toSorted();
};

const FIRST_ATTEMPTS = ['ACTIVITIES 0', 'BALANCES 0', 'TRANSACTIONS 0'];

const transfer = async (url: string, value: bigint): Promise<string> => {
  const [from, to] = await accountsOf(url);
  await receiptOf(url, await sendTransaction(url, to, '0x', { ...(from && { from }), value }));
  return String(to);
};

/** The threads of this process whose program is the index. */
const watchThreads = (): Worker[] => {
  const threads: Worker[] = [];
  const add = (worker: Worker) => threads.push(worker);
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return threads;
};

test('it serves before the node is there, says why it has nothing, and follows when it comes', async () => {
  await using anvil = await startAnvil();
  const to = await transfer(anvil.url, 5n);
  await anvil.stop();
  await using gateway = await startGateway({ CHAINS: `${CHAIN}=${anvil.url}` }, { readsChains: true });
  expect(await valuesOf(gateway, to)).toEqual([]);
  await vi.waitFor(async () => expect((await indexOf(gateway))?.problem).toEqual(expect.any(String)), 60_000);
  const { chains } = await gateway.data<{ chains: object[] }>('{ chains { chainId tags } }');
  expect(chains).toEqual([{ chainId: CHAIN, tags: ['default'] }]);
  await anvil.start();
  await untilAt(gateway, 1);
  await expect.poll(() => valuesOf(gateway, to)).toEqual(['5']);
});

test('a thread that dies is started again, with one log line, and subscriptions go on', async () => {
  await using anvil = await startAnvil();
  const threads = watchThreads();
  await using gateway = await startGateway({ CHAINS: `${CHAIN}=${anvil.url}` }, { readsChains: true });
  const to = await transfer(anvil.url, 1n);
  await untilAt(gateway, 1);
  const watched = await gateway.data<{ watchWallet: object }>(WATCH, { address: to });
  expect(watched.watchWallet).toEqual({ __typename: 'WatchWalletPayload' });
  await using dashboard = subscribe(gateway.url);
  await readersToBe(gateway.url, 1);
  await transfer(anvil.url, 2n);
  await eventually(() => dashboard.edges.length >= 3);

  const [thread] = threads;
  const ended = thread && once(thread, 'exit');
  await thread?.terminate();
  await ended;
  // A block of the time without it is delivered, too.
  await transfer(anvil.url, 3n);
  await eventually(() => dashboard.edges.length >= 6);
  await untilAt(gateway, 3);
  expect(await valuesOf(gateway, to)).toEqual(['3', '2', '1']);
  const lines = gateway.logLines.filter((line) => line.includes('it stopped and starts again'));
  expect(lines).toHaveLength(1);
  expect(threads).toHaveLength(2);
});

test('a node of another chain and a start beyond the head are problems of their chain alone; the signed events of another come', async () => {
  await using anvil = await startAnvil();
  await using short = await startAnvil({ args: ['--chain-id', '2'] });
  await using gateway = await startGateway(
    {
      CHAINS: `1=${anvil.url},2=${short.url},${CHAIN}=${anvil.url}`,
      START_BLOCK: '2=99',
      DELIVERY_SIGNATURE_SECRET: 'a-secret-of-deliveries,another-one',
    },
    { readsChains: true },
  );
  await untilAt(gateway, 0);
  const problems = async () => {
    const { chains } = await gateway.data<{ chains: { index: { problem: string | null } | null }[] }>(
      '{ chains { index { problem } } }',
    );
    return chains.map(({ index }) => index?.problem ?? null);
  };
  await expect
    .poll(problems)
    .toEqual([expect.stringMatching(/chain.*31337/i), expect.stringContaining('99'), null]);
  const to = await transfer(anvil.url, 4n);
  await gateway.data(WATCH, { address: to });
  await transfer(anvil.url, 5n);
  await expect.poll(() => deliveredTo(gateway)).toEqual(FIRST_ATTEMPTS);
});

test('an index that can not be opened is a named problem of the start', async () => {
  await using folder = await folderOf({ taken: 'no folder' });
  const env = { CHAINS: `${CHAIN}=http://127.0.0.1:1`, DATA_DIR: folder.path('data') };
  await expect(spawnGateway({ ...env, INDEX_DIR: folder.path('taken') })).rejects.toThrow(
    /exited with 1: .*INDEX_DIR: expected/s,
  );
});

test('in production it starts, keeps the index private, and goes on from it after a kill', async () => {
  await using anvil = await startAnvil();
  await using folder = await folderOf({});
  const to = await transfer(anvil.url, 7n);
  const env = {
    CHAINS: `${CHAIN}=${anvil.url}`,
    NODE_ENV: 'production',
    DATA_DIR: folder.path('data'),
    PORT: String(await freePort()),
  };
  await using first = await spawnGateway(env);
  await untilAt(first, 1);
  expect((await readdir(folder.path('data/index'))).some((name) => name === 'index.sqlite')).toBe(true);
  expect((await first.data<{ watchWallet: object }>(WATCH, { address: to })).watchWallet).toEqual({
    __typename: 'WatchWalletPayload',
  });
  await first.end('SIGKILL');
  await transfer(anvil.url, 8n);
  await using second = await spawnGateway(env);
  // The block that came meanwhile is delivered once the gateway listens, at the first attempt.
  await expect.poll(() => deliveredTo(second)).toEqual(FIRST_ATTEMPTS);
  expect(await valuesOf(second, to)).toEqual(['8', '7']);
  expect(await second.end('SIGTERM')).toBe(0);
});

test('npm run service serves gateways by the same contract, says how it is, and ends at SIGTERM', async () => {
  await using anvil = await startAnvil();
  await using folder = await folderOf({});
  const key = 'a-key-of-the-service';
  await using service = await spawnProgram(['node_modules/.bin/node', PROGRAM, 'service'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      CHAINS: `${CHAIN}=${anvil.url}`,
      INDEX_DIR: folder.path('index'),
      API_KEY: key,
      SIGNATURE_SECRET: 'a-secret-of-deliveries',
      PORT: String(await freePort()),
    },
  });
  const healthOf = async () => (await fetch(`${service.url}/health`)).status;
  await expect.poll(healthOf).toBe(200);
  await using gateway = await startGateway(
    {
      UPSTREAM_URL: service.url,
      UPSTREAM_API_KEY: key,
      DELIVERY_SIGNATURE_SECRET: 'a-secret-of-deliveries',
    },
    { readsChains: true },
  );
  const to = await transfer(anvil.url, 9n);
  await untilAt(gateway, 1);
  await gateway.data(WATCH, { address: to });
  await transfer(anvil.url, 10n);
  await expect.poll(() => deliveredTo(gateway)).toEqual(FIRST_ATTEMPTS);
  await anvil.stop();
  await expect.poll(healthOf).toBe(503);
  expect(await service.end('SIGTERM')).toBe(0);
  const messages = service.lines.map((line) => JSON.parse(line).msg);
  expect(messages).toEqual(expect.arrayContaining(['listening', 'stopping', 'stopped']));
  expect(service.output.text).not.toContain(key);
});
