import { expect, test } from 'vitest';
import { Changes } from '../../src/backend/changes.ts';
import { createMemoryStore } from '../../src/backend/dispatch/memory-store.ts';
import { startService } from '../../src/backend/server.ts';
import type { Hex } from '../../src/backend/types.ts';
import { ALICE, BOB, simulator, USDC } from '../backend/dispatch/support/builders.ts';
import { expectUnchanged, ifNot, tagOf } from '../support/clients/conditional.ts';
import { freePort } from '../support/free-port.ts';
import { type Gateway, heldKey, startGateway } from '../support/gateway/start.ts';
import { startTrusting } from '../support/gateway/trusted.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** A page of a service that tells of its changes is fetched when one concerns it, and not by its age. */

const env = { CACHE_HEAD_MS: '0', CACHE_STALE_MS: '0', CACHE_WATCHED_MS: '3600000' };

type Service = {
  readonly url: string;
  readonly changes: Changes;
  [Symbol.asyncDispose](): Promise<void>;
};

type ServiceOptions = {
  readonly port?: number;
  /** Whether its stream fails. */
  readonly isSilent?: () => boolean;
  /** Called when transactions are asked for, which are answered once it resolves. */
  readonly onRead?: () => Promise<void>;
};

/** A service over simulated chains which tells what the test has it tell. */
const openService = async ({
  port,
  isSilent = () => false,
  onRead = async () => {},
}: ServiceOptions = {}): Promise<Service> => {
  const changes = new Changes();
  const source = {
    ...simulator,
    ...{ chains: simulator.chains, protocols: [], operations: [], status: () => [], onBlock() {} },
    changes,
    costly: [],
    async transactions() {
      await onRead();
      return { items: [], next: null };
    },
    effects: () => ({ items: [], next: null }),
    transaction: () => null,
    revert: () => ({ message: null, data: null, decoded: null }),
    learnAbis: () => [],
    approvals: () => ({ items: [], next: null, unread: [] }),
    name: () => null,
    holdings: () => ({ items: [], next: null }),
    holders: () => ({ items: [], next: null, isWhole: true }),
    search: () => ({ tokens: [] }),
    collection: () => null,
    metadata: () => null,
    balances: () => ({ items: [], next: null }),
    pool: () => null,
    supply: () => 1n,
    beginning: () => null,
    defiPositions: () => [],
    start: async () => {},
    stop: async () => {},
  };
  const service = await startService(source, {
    apiKey: heldKey,
    port,
    store: createMemoryStore(Date.now),
    extras: {
      routes: [],
      faultOf: ({ path }) => (isSilent() && path.endsWith('/changes') ? { path, status: 503 } : null),
      answered() {},
    },
  });
  return { url: service.url, changes, [Symbol.asyncDispose]: () => service.stop() };
};

const isTold = ({ logLines }: Pick<Gateway, 'logLines'>, times = 1): Promise<void> =>
  expect.poll(() => logLines.filter((line) => line.includes('changes are told')).length).toBe(times);

const openGateway = async ({ url }: Service, changed: Record<string, string> = {}): Promise<Gateway> => {
  const gateway = await startGateway({ ...env, UPSTREAM_URL: url, ...changed }, { readsChains: true });
  await isTold(gateway);
  return gateway;
};

const transactions = (address: string, filter = '') =>
  `{ wallet(address: "${address}") { transactions${filter} { nodes { hash } } } }`;

const HOLDERS = `{ token(token: { contract: { chainId: 1, address: "${USDC}" } }) { holders { nodes { balance } } } }`;
const SEARCH = '{ searchTokens(query: "anything") { nodes { symbol } } }';

const requestsOf = async (gateway: Gateway, document: string): Promise<number> => {
  const { errors, extensions } = await gateway.query(document);
  expect(errors).toBeUndefined();
  return extensions.upstream.requests;
};

const named = (...addresses: Hex[]) => ({
  addresses: new Set(addresses),
  tokens: new Set<Hex>(),
  transactions: new Set<Hex>(),
});

test('a change fetches what it names again, at once, and nothing else', async () => {
  await using service = await openService();
  await using gateway = await openGateway(service);
  const documents = {
    alice: transactions(ALICE),
    'alice on Base': transactions(ALICE, '(chainIds: [8453])'),
    bob: transactions(BOB),
    holders: HOLDERS,
    search: SEARCH,
  };
  const fetched = async () => {
    const found: string[] = [];
    for (const [name, document] of Object.entries(documents))
      if ((await requestsOf(gateway, document)) > 0) found.push(name);
    return found.join();
  };
  await fetched();
  expect(await fetched()).toBe('');
  service.changes.tell(1, named(ALICE));
  await expect.poll(fetched).toBe('alice');
  service.changes.tell(8453, named(ALICE));
  await expect.poll(fetched).toBe('alice,alice on Base');
  service.changes.tell(1, { ...named(), tokens: new Set([USDC]) });
  await expect.poll(fetched).toBe('holders,search');
  service.changes.tell(1, null);
  await expect.poll(fetched).toBe('alice,bob,holders,search');
  expect(await fetched()).toBe('');
});

test('a page that was asked for before a change, and comes after it, is not kept', async () => {
  const reading = Promise.withResolvers<void>();
  const answering = Promise.withResolvers<void>();
  await using service = await openService({
    onRead() {
      reading.resolve();
      return answering.promise;
    },
  });
  await using gateway = await openGateway(service);
  const early = requestsOf(gateway, transactions(ALICE));
  await reading.promise;
  await requestsOf(gateway, HOLDERS);
  service.changes.tell(1, { ...named(ALICE), tokens: new Set([USDC]) });
  await expect.poll(() => requestsOf(gateway, HOLDERS)).toBe(1);
  answering.resolve();
  expect(await early).toBe(1);
  expect(await requestsOf(gateway, transactions(ALICE))).toBe(1);
  expect(await requestsOf(gateway, transactions(ALICE))).toBe(0);
});

test('over a service that was started again, everything is fetched; while it tells nothing, ages count', async () => {
  const port = await freePort();
  let isSilent = false;
  await using made = new AsyncDisposableStack();
  const first = await openService({ port });
  await using gateway = await openGateway(first);
  await requestsOf(gateway, transactions(ALICE));
  expect(await requestsOf(gateway, transactions(ALICE))).toBe(0);
  isSilent = true;
  await first[Symbol.asyncDispose]();
  made.use(await openService({ port, isSilent: () => isSilent }));
  for (const _ of [1, 2]) expect(await requestsOf(gateway, transactions(ALICE))).toBe(1);
  const problems = gateway.logLines.filter((line) => line.includes('changes are not told'));
  expect(problems).toHaveLength(1);
  isSilent = false;
  await isTold(gateway, 2);
  expect(await requestsOf(gateway, transactions(ALICE))).toBe(1);
  expect(await requestsOf(gateway, transactions(ALICE))).toBe(0);
});

test('a client asks each time, and gets no data until a change names the wallet', async () => {
  await using service = await openService();
  const list = transactions(ALICE);
  const ages = { ...env, CACHE_HEAD_MS: '3600000', UPSTREAM_URL: service.url };
  await using gateway = await startTrusting([list], ages, { readsChains: true });
  await isTold(gateway);
  const answer = await gateway.get(list);
  // A cache of the client would not hear of the change.
  expect(answer.headers['cache-control']).toBe('private, no-cache');
  const requests = async () => {
    const { text } = await gateway.get(list);
    return JSON.parse(text).extensions.upstream.requests;
  };
  expectUnchanged(await gateway.get(list, {}, ifNot(tagOf(answer))));
  expect(await requests()).toBe(0);
  service.changes.tell(1, named(ALICE));
  await expect.poll(requests).toBe(1);
});

test('gateways on one Redis each fetch what a change names, and keep it', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const shared = { REDIS_URL: redis.url, AUTH: 'open', PUBLIC_URL: 'http://gateways.test' };
  await using service = await openService();
  await using one = await openGateway(service, shared);
  await using other = await openGateway(service, shared);
  for (const gateway of [one, other]) await requestsOf(gateway, transactions(ALICE));
  for (const gateway of [one, other]) expect(await requestsOf(gateway, transactions(ALICE))).toBe(0);
  service.changes.tell(1, named(ALICE));
  for (const gateway of [one, other])
    await expect.poll(() => requestsOf(gateway, transactions(ALICE))).toBe(1);
  for (const gateway of [one, other]) expect(await requestsOf(gateway, transactions(ALICE))).toBe(0);
});
