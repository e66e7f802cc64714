import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/backend/indexer/database/database.ts';
import { subscribe } from '../../support/clients/subscribe.ts';
import { freePort } from '../../support/free-port.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { runs } from '../../support/runs.ts';
import { startReceiver } from '../dispatch/support/receiver.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy } from './support/contracts.ts';
import { contentsOf, follow } from './support/followed.ts';
import { API_KEY, spawnIndexed } from './support/service.ts';

/** Sends a token to an account, a new amount in each block, until it is stopped. */
const startTrading = (coin: Contract, to: string) => {
  let isTrading = true;
  let amount = 0n;
  const running = (async () => {
    while (isTrading) await coin.mine('transfer', [to, ++amount]);
  })();
  return {
    async stop(): Promise<void> {
      isTrading = false;
      await running;
    },
  };
};

/** The hashes of the transactions in which the chain now sends a token to an account. */
const received = async (anvil: Anvil, coin: Contract, to: string): Promise<readonly string[]> => {
  const topics = [null, null, `0x${to.slice(2).padStart(64, '0')}`];
  const filter = { address: coin.address, fromBlock: '0x0', topics };
  const logs = (await anvil.rpc('eth_getLogs', filter)) as readonly { transactionHash: string }[];
  return logs.map(({ transactionHash }) => transactionHash);
};

/** The transactions that deliveries tell of, each with the number of its last delivery. */
const told = (bodies: readonly string[]): ReadonlyMap<string, number> =>
  new Map(
    bodies.flatMap((body, at) => {
      const { activities } = JSON.parse(body) as { activities: readonly { tx_hash: string }[] };
      return activities.map(({ tx_hash }) => [tx_hash, at] as const);
    }),
  );

/** That the index in a folder, which no process uses, is what an index of the chain is that is made now. */
const expectRebuilt = async (directory: string, anvil: Anvil): Promise<void> => {
  await using fresh = await follow({ url: anvil.url });
  await fresh.caughtUp();
  const database = openDatabase(join(directory, 'index.sqlite'));
  try {
    expect(contentsOf(database)).toEqual(contentsOf(fresh.database));
  } finally {
    database.close();
  }
};

test('a service that is killed while blocks come and go delivers each that stays, and its index is that of the chain', {
  timeout: 1_800_000,
}, async () => {
  await using anvil = await startAnvil();
  await using receiver = await startReceiver();
  const directory = await mkdtemp(join(tmpdir(), 'killed-'));
  const port = await freePort();
  const [owner = '0x', , , watched = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  await coin.mine('mint', [owner, 10n ** 18n]);
  const deliveries = () => told(receiver.received.map(({ body }) => body));
  try {
    {
      await using service = await spawnIndexed(anvil.url, directory, port);
      await service.indexed(await anvil.head());
      await service.subscribe('activities', receiver.url, [watched]);
    }
    /** What reorgs have removed, with the number of deliveries that had come when the service knew of it. */
    const removed = new Map<string, number>();
    for (let round = 0; round < runs(20, 2); round++) {
      await using service = await spawnIndexed(anvil.url, directory, port);
      if (round % 2 === 1) {
        const before = await received(anvil, coin, watched);
        await anvil.rpc('anvil_reorg', 1 + (round % 5), []);
        await anvil.mine();
        await service.indexed(await anvil.head());
        await expect.poll(() => receiver.open()).toBe(0);
        const left = new Set(await received(anvil, coin, watched));
        for (const hash of before) if (!left.has(hash)) removed.set(hash, receiver.received.length);
      }
      const trading = startTrading(coin, watched);
      const enough = receiver.received.length + 5 + 3 * (round % 4);
      await expect.poll(() => receiver.received.length, { interval: 5 }).toBeGreaterThanOrEqual(enough);
      await service.end('SIGKILL');
      await trading.stop();
    }
    expect(removed.size).toBeGreaterThan(0);

    {
      await using service = await spawnIndexed(anvil.url, directory, port);
      const head = await anvil.head();
      await service.traced(head);
      const stays = await received(anvil, coin, watched);
      await expect.poll(() => stays.filter((hash) => !deliveries().has(hash))).toEqual([]);
      await service.end('SIGTERM');
    }
    for (const [hash, known] of removed) expect(deliveries().get(hash) ?? -1).toBeLessThan(known);

    await expectRebuilt(directory, anvil);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('a service that is killed while it indexes older blocks goes on where it was, also when the newest are others', {
  timeout: 1_800_000,
}, async () => {
  await using anvil = await startAnvil();
  const directory = await mkdtemp(join(tmpdir(), 'killed-'));
  const port = await freePort();
  const [owner = '0x', friend = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  for (let part = 0; part < 4; part++) {
    await coin.mine('mint', [owner, 10n]);
    await coin.mine('transfer', [friend, 3n]);
    await anvil.mine(300);
  }
  const lowest = async (service: Awaited<ReturnType<typeof spawnIndexed>>): Promise<number> => {
    const [chain] = await service.progress();
    return Number(chain?.indexedFrom ?? Number.POSITIVE_INFINITY);
  };
  try {
    let reached = await anvil.head();
    for (let round = 0; round < runs(20, 2) && reached > 0; round++) {
      await using service = await spawnIndexed(anvil.url, directory, port);
      await expect.poll(() => lowest(service), { interval: 5 }).toBeLessThan(reached);
      reached = await lowest(service);
      await service.end('SIGKILL');
      await anvil.rpc('anvil_reorg', 1 + (round % 5), []);
    }
    {
      await using service = await spawnIndexed(anvil.url, directory, port);
      await service.traced(await anvil.head());
      await service.end('SIGTERM');
    }
    await expectRebuilt(directory, anvil);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

const WATCH = `mutation ($address: Address!) {
  watchWallet(input: { address: $address, types: [ACTIVITIES] }) { __typename ... on WebhookError { message } }
}`;

const ACTIVITIES = `subscription ($after: String) {
  deliveries(after: $after) { cursor node { events { ... on Activity { transactionHash } } } }
}`;

type Node = { readonly events: readonly { readonly transactionHash: string }[] };

test('chain, service and gateway are killed in turn, and a client that resumes gets each event once', {
  timeout: 7_200_000,
}, async () => {
  await using anvil = await startAnvil();
  const directory = await mkdtemp(join(tmpdir(), 'killed-'));
  const [servicePort, gatewayPort] = [await freePort(), await freePort()];
  const [owner = '0x', , , watched = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  await coin.mine('mint', [owner, 10n ** 18n]);
  let amount = 0n;
  const trade = async (count: number) => {
    for (let sent = 0; sent < count; sent++) await coin.mine('transfer', [watched, ++amount]);
  };
  const startService = () => spawnIndexed(anvil.url, join(directory, 'index'), servicePort);
  const startGateway = () =>
    spawnGateway({
      UPSTREAM_URL: `http://127.0.0.1:${servicePort}`,
      UPSTREAM_API_KEY: API_KEY,
      DATA_DIR: join(directory, 'gateway'),
      PORT: String(gatewayPort),
    });
  await using made = new AsyncDisposableStack();
  made.defer(() => rm(directory, { recursive: true, force: true }));
  let service = await startService();
  made.defer(() => service[Symbol.asyncDispose]());
  let gateway = await startGateway();
  made.defer(() => gateway[Symbol.asyncDispose]());

  const seen: string[] = [];
  let cursor: string | undefined;
  const listen = () =>
    subscribe(gateway.url, { query: ACTIVITIES, ...(cursor !== undefined && { after: cursor }) });
  /** Notes what a client got until it lost its connection. */
  const note = ({ edges }: ReturnType<typeof listen>): void => {
    for (const edge of edges.splice(0)) {
      cursor = edge.cursor;
      seen.push(...(edge.node as Node).events.map(({ transactionHash }) => transactionHash));
    }
  };
  expect(await gateway.data(WATCH, { address: watched })).toMatchObject({
    watchWallet: { __typename: 'WatchWalletPayload' },
  });
  await service.indexed(await anvil.head());
  let client = listen();
  made.defer(() => client[Symbol.asyncDispose]());
  // A client without a cursor gets what comes once it listens.
  await expect
    .poll(
      async () => {
        await trade(1);
        note(client);
        return cursor;
      },
      { interval: 200 },
    )
    .toBeDefined();
  const first = amount;

  /** Resolves when the client has got all. What came while the gateway was down is delivered again within a minute. */
  const seesAll = async (): Promise<void> => {
    const stays = await received(anvil, coin, watched);
    expect(stays).toHaveLength(Number(amount));
    const missing = () => {
      note(client);
      return stays.slice(Number(first)).filter((hash) => !seen.includes(hash));
    };
    await expect.poll(missing, { timeout: 600_000 }).toEqual([]);
  };

  // Each of the three 20 times.
  const rounds = 3 * runs(20, 1);
  for (let round = 0; round < rounds; round++) {
    await trade(3);
    if (round % 3 === 0) {
      await service.end('SIGKILL');
      await trade(3);
      service = await startService();
    } else if (round % 3 === 1) {
      // A delivery that meets it down again and again would be tried again ever later.
      await seesAll();
      await gateway.end('SIGKILL');
      note(client);
      await client[Symbol.asyncDispose]();
      await trade(3);
      gateway = await startGateway();
      client = listen();
    } else {
      await anvil.stop();
      await anvil.start();
    }
    await trade(2);
  }
  await seesAll();
  expect(new Set(seen).size).toBe(seen.length);
  await service.traced(await anvil.head());
  await service.end('SIGTERM');
  await expectRebuilt(join(directory, 'index'), anvil);
});
