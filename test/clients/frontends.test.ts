import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ApolloClient } from '@apollo/client';
import type { Client } from '@urql/core';
import { expect, test } from 'vitest';
import { openActivity } from '../../examples/frontends/apollo/activity.ts';
import { createApollo } from '../../examples/frontends/apollo/client.ts';
import { openApollo } from '../../examples/frontends/apollo/connection.ts';
import * as apolloEvents from '../../examples/frontends/apollo/events.ts';
import * as apolloLive from '../../examples/frontends/apollo/live.ts';
import * as apolloPortfolio from '../../examples/frontends/apollo/portfolio.ts';
import * as apolloTransactions from '../../examples/frontends/apollo/transactions.ts';
import { createTrustedApollo } from '../../examples/frontends/apollo/trusted.ts';
import { openWallets } from '../../examples/frontends/apollo/wallets.ts';
import { createUrql } from '../../examples/frontends/urql/client.ts';
import { openUrql } from '../../examples/frontends/urql/connection.ts';
import * as urqlEvents from '../../examples/frontends/urql/events.ts';
import * as urqlLive from '../../examples/frontends/urql/live.ts';
import * as urqlPortfolio from '../../examples/frontends/urql/portfolio.ts';
import * as urqlTransactions from '../../examples/frontends/urql/transactions.ts';
import { trustedDocuments } from '../../examples/frontends/urql/trusted.ts';
import { activity as activityList } from '../../src/lookups/activity.ts';
import { balances } from '../../src/lookups/balances/balances.ts';
import { activity, balanceChange, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { sleep } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { codesOf, nowhere, startGateway } from '../support/gateway/start.ts';
import { sampleOf } from '../support/lookups/samples.ts';
import { root } from '../support/pages.ts';
import { balance, freshAddress, history, nativeBalance, transaction } from '../support/upstream/builders.ts';
import { inTurn } from '../support/upstream/fake-service.ts';
import { serving, servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The modules that docs/frontends/apollo.md and docs/frontends/urql.md show, each over a gateway of its own. */

type Edges = readonly ({ readonly node: { readonly hash: string } | null } | null)[];

type ShowPortfolio = Parameters<typeof apolloPortfolio.openPortfolio>[2];

type Live = ReturnType<typeof urqlLive.openLiveActivity>;

type Frontend = {
  openLiveActivity(
    address: string,
    show: (hashes: readonly string[]) => void,
  ): Omit<Live, 'loadMore'> & { loadMore(): Promise<unknown> };
  openTransactions(
    address: string,
    show: (edges: Edges, codes: readonly string[]) => void,
  ): { hasMore(): boolean; loadMore(): Promise<void> };
  followDeliveries(listener: Parameters<typeof apolloEvents.followDeliveries>[1]): () => void;
  openPortfolio(address: string, show: ShowPortfolio): Promise<() => void>;
};

const hashesOf = (edges: Parameters<Parameters<typeof urqlLive.openLiveActivity>[2]>[0]) =>
  edges.flatMap((edge) => edge?.node?.transactionHash ?? []);

const unexpected = (reason: unknown) => expect.unreachable(String(reason));

const overApollo = (client: ApolloClient): Frontend => ({
  openLiveActivity: (address, show) =>
    apolloLive.openLiveActivity(client, address, (edges) => show(hashesOf(edges)), unexpected),
  openTransactions: (address, show) => apolloTransactions.openTransactions(client, address, show),
  followDeliveries: (listener) => apolloEvents.followDeliveries(client, listener),
  openPortfolio: (address, show) => apolloPortfolio.openPortfolio(client, { address }, show),
});

const overUrql = (client: Client): Frontend => ({
  openLiveActivity: (address, show) =>
    urqlLive.openLiveActivity(client, address, (edges) => show(hashesOf(edges)), unexpected),
  openTransactions: (address, show) => urqlTransactions.openTransactions(client, address, show),
  followDeliveries: (listener) => urqlEvents.followDeliveries(client, listener),
  openPortfolio: (address, show) => urqlPortfolio.openPortfolio(client, { address }, show),
});

const FRONTENDS: readonly (readonly [name: string, open: (url: string) => Frontend])[] = [
  ['Apollo Client', (url) => overApollo(createApollo(url))],
  ['urql', (url) => overUrql(createUrql(url))],
];

type Said = ('connected' | 'closed')[];

/** They add to the list whether events arrive. */
const CONNECTED: readonly (readonly [name: string, open: (url: string, said: Said) => Frontend])[] = [
  ['Apollo Client', (url, said) => overApollo(openApollo(url, (state) => said.push(state)).client)],
  ['urql', (url, said) => overUrql(openUrql(url, (state) => said.push(state)).client)],
];

const TRUSTED: typeof FRONTENDS = [
  ['Apollo Client', (url) => overApollo(createTrustedApollo(url))],
  ['urql', (url) => overUrql(createUrql(url, [trustedDocuments]))],
];

/** A list and what it shows by now, once it shows something. */
const openList = async (frontend: Frontend, address: string) => {
  const shown = { hashes: null as readonly string[] | null, codes: [] as readonly string[] };
  const list = frontend.openTransactions(address, (edges, codes) => {
    shown.hashes = edges.flatMap((edge) => edge?.node?.hash ?? []);
    shown.codes = codes;
  });
  await eventually(() => shown.hashes !== null);
  return Object.assign(shown, list);
};

/** What a page shows of the deliveries: the numbers of its activities, as they came. */
const openEvents = async (frontend: Frontend) => {
  const numbers: number[] = [];
  const codes: string[] = [];
  let reads = 0;
  const stop = frontend.followDeliveries({
    read: () => {
      reads += 1;
    },
    arrived: ({ payload }) =>
      numbers.push((payload as ReturnType<typeof activity>).activities[0]?.block_number ?? 0),
    failed: (failed) => codes.push(...failed),
  });
  await eventually(() => reads + codes.length > 0);
  return { numbers, codes, reads: () => reads, [Symbol.dispose]: stop };
};

test.each(FRONTENDS)(
  '%s pages a wallet to its end, and keeps its pages where the next one fails',
  async (_name, open) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    const items = history(130);
    const hashes = items.map(({ hash }) => hash);
    const serve = servingTransactions(items);
    let isUsedUp = true;
    fake.transactions.set(address, (request) =>
      isUsedUp && request.query.has('offset') ? { status: 402, text: 'no quota' } : serve(request),
    );

    const list = await openList(open(gateway.url), address);
    expect([list.hashes, list.codes]).toEqual([hashes.slice(0, 20), []]);
    // The service's first page has a hundred.
    for (let page = 2; page <= 5; page += 1) await list.loadMore();
    expect([list.hashes, list.codes]).toEqual([hashes.slice(0, 100), []]);
    await list.loadMore();
    expect([list.hashes, list.codes]).toEqual([hashes.slice(0, 100), ['QUOTA_EXCEEDED']]);

    isUsedUp = false;
    for (; list.hasMore(); await sleep(100)) await list.loadMore();
    expect([list.hashes, list.codes]).toEqual([hashes, []]);
  },
);

test.each(FRONTENDS)(
  '%s shows the code of a wallet that fails, and of a gateway that is gone',
  async (_name, open) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, () => ({ status: 402, text: 'no quota' }));
    const list = await openList(open(gateway.url), address);
    expect([list.hashes, list.codes]).toEqual([[], ['QUOTA_EXCEEDED']]);
    const { codes } = await openList(open(nowhere), address);
    expect(codes).toEqual(['UNREACHABLE']);
  },
);

test("Apollo Client pages a wallet's activity to its end", async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const items = Array.from({ length: 130 }, (_, place) => sampleOf(activityList).item(130 - place));
  fake.scriptsOf(activityList).set(address, serving(activityList, items));
  const shown = { hashes: null as readonly string[] | null, codes: [] as readonly string[] };
  const list = openActivity(createApollo(gateway.url), address, (edges, codes) => {
    shown.hashes = edges.flatMap((edge) => edge?.node?.transactionHash ?? []);
    shown.codes = codes;
  });
  await eventually(() => shown.hashes !== null);
  while (list.hasMore()) await list.loadMore();
  expect(shown).toEqual({ hashes: items.map((item) => item.tx_hash), codes: [] });
});

test.each(FRONTENDS)(
  "%s shows a wallet's activity with newer items on top, keeps the pages that are loaded, and asks once for many events",
  async (_name, open) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    const itemsTo = (newest: number) =>
      Array.from({ length: newest }, (_, place) => sampleOf(activityList).item(newest - place));
    const has = (newest: number) => {
      const items = itemsTo(newest);
      fake.scriptsOf(activityList).set(address, serving(activityList, items));
      return items.map(({ tx_hash }) => tx_hash);
    };
    const hashes = has(50);
    let shown: readonly unknown[] = [];
    const live = open(gateway.url).openLiveActivity(address, (now) => {
      shown = now;
    });
    await eventually(() => shown.length === 20);
    await eventually(() => live.hasMore());
    while (live.hasMore()) await live.loadMore();
    await eventually(() => shown.length === 50);
    expect(shown).toEqual(hashes);

    const { deliveryUrl } = await deliveriesOf(gateway.url);
    await eventually(() => fake.requests.length > 0);
    const before = fake.requests.length;
    const later = has(53);
    for (let number = 1; number <= 30; number += 1)
      expect(await deliver(deliveryUrl, { type: 'activities', body: activity(number, address) })).toBe(200);
    await eventually(
      () => shown.length === 53,
      () => shown.length,
    );
    expect(shown).toEqual(later);
    expect(fake.requests.length - before).toBeLessThanOrEqual(2);
    live.close();
  },
);

test.each(FRONTENDS)(
  '%s shows a portfolio, and a balance that a delivery has changed, without a request',
  async (_name, open) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    const held = balance({ amount: '573000000' });
    fake.scriptsOf(balances).set(address, serving(balances, [held, nativeBalance()]));
    const shown = { amounts: [] as readonly (readonly string[])[], codes: [] as readonly string[] };
    const close = await open(gateway.url).openPortfolio(address, (portfolio, codes) => {
      const amounts = portfolio?.top.map(({ amount, valueUsd }) => [amount, valueUsd ?? '']) ?? [];
      Object.assign(shown, { amounts, codes });
    });
    const native = ['1500000000000000000', '4500'];
    expect(shown).toEqual({ amounts: [native, ['573000000', '859.5']], codes: [] });

    const { deliveryUrl } = await deliveriesOf(gateway.url);
    const before = fake.requests.length;
    const body = balanceChange(address, String(held.address), '823000000');
    expect(await deliver(deliveryUrl, { type: 'balances', chainId: 1, body })).toBe(200);
    await eventually(() => shown.amounts[1]?.[0] === '823000000');
    expect(shown).toEqual({ amounts: [native, ['823000000', '1234.5']], codes: [] });
    expect(fake.requests.length).toBe(before);
    close();
  },
);

test('Apollo Client shows the totals of several wallets, and reads the one again whose balance has changed', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const [one, other] = [freshAddress(), freshAddress()];
  const held = balance({ amount: '573000000' });
  const hold = (address: string, amount: string, value_usd: number) =>
    fake.scriptsOf(balances).set(address, serving(balances, [{ ...held, amount, value_usd }]));
  hold(one, '573000000', 859.5);
  hold(other, '1000000', 1.5);
  const shown = { totals: [] as readonly string[], codes: [] as readonly string[] };
  const close = await openWallets(
    createApollo(gateway.url),
    { addresses: [one, other] },
    (wallets, codes) => {
      Object.assign(shown, { totals: wallets.map(({ portfolio }) => portfolio?.totalUsd), codes });
    },
  );
  expect(shown).toEqual({ totals: ['859.5', '1.5'], codes: [] });

  const before = fake.requests.length;
  hold(other, '2000000', 3);
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const body = balanceChange(other, String(held.address), '2000000');
  expect(await deliver(deliveryUrl, { type: 'balances', chainId: 1, body })).toBe(200);
  await eventually(() => shown.totals[1] === '3');
  expect(shown).toEqual({ totals: ['859.5', '3'], codes: [] });
  expect(fake.requests.slice(before).every(({ path }) => path.includes(other))).toBe(true);
  close();
});

test('Apollo Client sends an operation once more after retryAfterMs', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const items = history(1);
  // The gateway itself waits for two seconds at most.
  const busy = { status: 429, headers: { 'retry-after': '3' }, text: 'slow down' };
  fake.transactions.set(
    address,
    inTurn(() => busy, servingTransactions(items)),
  );
  const probe = await gateway.query(
    'query ($a: Address!) { wallet(address: $a) { transactions { nodes { id } } } }',
    {
      a: address,
    },
  );
  expect(codesOf(probe)).toEqual(['RATE_LIMITED']);
  const list = await openList(overApollo(createApollo(gateway.url)), address);
  expect([list.hashes, list.codes]).toEqual([items.map(({ hash }) => hash), []]);
});

test.each(FRONTENDS)(
  '%s leaves out an item that the gateway can’t parse, and says so',
  async (_name, open) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    const items = history(30);
    const malformed = items.with(10, transaction({ hash: 'not a hash' }));
    fake.transactions.set(address, servingTransactions(malformed));
    const list = await openList(open(gateway.url), address);
    expect(list.codes).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    await list.loadMore();
    expect(list.hashes).toEqual(items.toSpliced(10, 1).map(({ hash }) => hash));
  },
);

test.each(CONNECTED)(
  '%s follows deliveries over a restart of the gateway, says when it is connected, and reads again where the log is another one',
  async (_name, open) => {
    await using logs = await folderOf({});
    const startWith = (log: string, port: number) =>
      startGateway({ UPSTREAM_URL: nowhere, PORT: String(port), DATA_DIR: logs.path(log) });
    const port = await freePort();
    await using first = await startWith('one', port);
    const said: Said = [];
    using events = await openEvents(open(first.url, said));
    const deliverTo = async ({ url }: { readonly url: string }, ...numbers: number[]) => {
      const { deliveryUrl } = await deliveriesOf(url);
      for (const number of numbers) expect(await deliver(deliveryUrl, { body: activity(number) })).toBe(200);
    };
    await deliverTo(first, 1, 2, 3);
    await eventually(() => events.numbers.length >= 3);
    expect(said).toEqual(['connected']);

    await first.stop();
    await eventually(() => said.length >= 2);
    expect(said.slice(0, 2)).toEqual(['connected', 'closed']);
    await using second = await startWith('one', port);
    await deliverTo(second, 4, 5);
    await eventually(() => events.numbers.length >= 5);
    expect([events.numbers, events.reads(), events.codes]).toEqual([[1, 2, 3, 4, 5], 1, []]);
    expect(said.at(-1)).toBe('connected');

    await second.stop();
    await using third = await startWith('another', port);
    await eventually(() => events.reads() >= 2);
    await deliverTo(third, 6);
    await eventually(() => events.numbers.length >= 6);
    expect([events.numbers, events.reads(), events.codes]).toEqual([[1, 2, 3, 4, 5, 6], 2, []]);
  },
);

test.each(TRUSTED)(
  '%s sends hashes of documents that codegen has written to a gateway that runs no other',
  async (_name, open) => {
    await using folder = await folderOf({});
    const documents = folder.path('documents.json');
    const persisted = join(root, 'examples/frontends/__generated__/persisted-documents.json');
    const cli = [join(root, 'src/cli/persist-documents.ts'), persisted, '--out', documents];
    await promisify(execFile)(process.execPath, cli);
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, TRUSTED_DOCUMENTS: documents });
    const address = freshAddress();
    const items = history(30);
    fake.transactions.set(address, servingTransactions(items));
    const frontend = open(gateway.url);
    const list = await openList(frontend, address);
    await list.loadMore();
    expect([list.hashes, list.codes]).toEqual([items.map(({ hash }) => hash), []]);
    using events = await openEvents(frontend);
    expect(events.codes).toEqual([]);
  },
);
