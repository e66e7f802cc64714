import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import { LEAVING } from '../../support/clients/leaving-clients.ts';
import { sleep } from '../../support/clients/queries.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { chargedTo, metricsOf, startCharging, watchCharges } from '../../support/gateway/charges.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import type { Gateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { anyList, selectLists } from '../../support/lookups/asked-lists.ts';
import { needRedis, startRedis } from '../../support/redis/server.ts';
import { runs } from '../../support/runs.ts';
import {
  type BillingService,
  startBillingService,
  type Treatment,
} from '../../support/upstream/billing-service.ts';

/**
 * The sum of what clients are charged is what an upstream bills that counts each request which it receives, whatever
 * becomes of the answer. Pages that become stale are refreshed, equal operations share requests, and clients leave.
 */

const CLIENTS = 2;

const CHAINS = ['chainIds: [1]', 'chainIds: [8453, 1]', 'chainIds: [1, 10, 137]'];
const wallet = fc.record({
  by: fc.constantFrom('wallet', 'wallets', 'node'),
  which: fc.nat(2),
  lists: fc.array(anyList(CHAINS), { minLength: 1, maxLength: 2 }),
});
type Wallet = typeof wallet extends fc.Arbitrary<infer Value> ? Value : never;

const select = ({ by, which, lists }: Wallet, wallets: readonly string[]): string => {
  const address = wallets[which] ?? '';
  return selectLists(lists, { address, alias: 'token' }, (fields) => {
    if (by === 'wallet') return `wallet(address: "${address}") { ${fields} }`;
    if (by === 'wallets') return `wallets(addresses: ${JSON.stringify(wallets)}) { ${fields} }`;
    const id = Buffer.from(`Wallet:${address}`).toString('base64');
    return `node(id: "${id}") { ... on Wallet { ${fields} } }`;
  });
};

const operation = fc.record({
  wallet,
  transport: fc.nat(LEAVING.length - 1),
  gateway: fc.nat(1),
  client: fc.nat(CLIENTS - 1),
  /** How many more requests upstream receives before the client leaves, if it may leave. */
  leavesAfter: fc.option(fc.nat(2), { freq: 1 }),
});
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

const FAULTS: readonly Treatment[] = [
  { status: 503 },
  { status: 500 },
  { status: 404 },
  { cutAfterBytes: 1 },
  { cutAfterBytes: 40 },
  { text: 'not a page' },
  { json: Object.fromEntries(lookups.map(({ itemsField }) => [itemsField, 1])) },
];
const FREE: readonly Treatment[] = [{ status: 429 }, { status: 402 }];

/** Most requests are served. */
const oneOf = (faults: readonly Treatment[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Treatment>({}) },
    { weight: 1, arbitrary: fc.constantFrom(...faults) },
  );
/** An upstream that takes its time. It bills prices alone: a client that leaves does not learn of any other cost. */
const slowly = fc
  .record({
    fault: oneOf(FAULTS),
    latencyMs: fc.constantFrom(0, 2, 10),
    silent: fc.nat(60).map((drawn) => drawn === 0),
  })
  .map(({ fault, ...times }): Treatment => ({ ...fault, ...times }));
const stating = fc
  .record({ fault: oneOf([...FAULTS, ...FREE]), stated: fc.option(fc.nat(6)) })
  .map(({ fault, stated }): Treatment => ({ ...fault, stated }));

/** What clients have been charged since it was made. */
type Charges = { readonly credentials: readonly Record<string, string>[]; charged(): Promise<number> };

type World = {
  readonly gateways: readonly Pick<Gateway, 'url'>[];
  readonly service: BillingService;
  /** Makes new clients. */
  readonly newClients: () => Promise<Charges>;
  /** Lets cached pages become stale. */
  readonly advance: () => void;
};

let made = 0;

const tokens = () =>
  Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      made += 1;
      return bearer(await tokenOf({ sub: `client-${made}` }));
    }),
  );

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Pages are fresh for this time by the clocks of the gateways, and stale for as long again. */
const env = (service: BillingService, timeoutMs: string, freshMs: number) => ({
  ...byToken,
  UPSTREAM_URL: service.url,
  UPSTREAM_TIMEOUT_MS: timeoutMs,
  MAX_COMPUTE_UNITS: '1000',
  CACHE_HEAD_MS: String(freshMs),
  CACHE_TAIL_MS: String(freshMs),
});

const startAlone = async (timeoutMs: string): Promise<World & AsyncDisposable> => {
  await using started = new AsyncDisposableStack();
  const service = started.use(await startBillingService());
  const gateway = started.use(await startCharging(env(service, timeoutMs, 10)));
  const running = started.move();
  return {
    gateways: [gateway],
    service,
    // In this time a budget does not fill by a compute unit.
    advance: () => gateway.advance(5),
    async newClients() {
      // The circuit breaker may have opened: it lets a probe through each half second.
      gateway.advance(1000);
      const credentials = await tokens();
      // A bucket that has not been used is full.
      const charged = async () => sum(await Promise.all(credentials.map((each) => chargedTo(gateway, each))));
      return { credentials, charged };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const startTwo = async (timeoutMs: string): Promise<World & AsyncDisposable> => {
  await using started = new AsyncDisposableStack();
  const service = started.use(await startBillingService());
  const redis = await startRedis({ settings: ['--appendfsync', 'always'] });
  const shared = { ...env(service, timeoutMs, 1000), REDIS_URL: redis.url };
  const first = started.use(await startCharging(shared));
  const second = started.use(await startCharging(shared));
  const charges = started.use(await watchCharges(redis));
  const running = started.move();
  return {
    gateways: [first, second],
    service,
    advance() {
      first.advance(500);
      second.advance(500);
    },
    async newClients() {
      for (const gateway of [first, second]) gateway.advance(1000);
      const before = charges.charged();
      return { credentials: await tokens(), charged: async () => charges.charged() - before };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const play = async (
  { gateways, service }: World,
  operations: readonly Operation[],
  credentials: Charges['credentials'],
  wallets: readonly string[],
  mayLeave: boolean,
): Promise<void> => {
  const playOne = async (each: Operation): Promise<void> => {
    const { url } = gateways[each.gateway % gateways.length] ?? expect.unreachable();
    const [, ask] = LEAVING[each.transport] ?? expect.unreachable();
    const { leavesAfter } = each;
    const wanted = service.received() + (leavesAfter ?? 0);
    const asked = await ask(url, `{ ${select(each.wallet, wallets)} }`, credentials[each.client]);
    let isAnswered = false;
    const answered = asked.answer.then(() => {
      isAnswered = true;
    });
    if (mayLeave && leavesAfter !== null) {
      await eventually(() => isAnswered || service.received() >= wanted);
      asked.leave();
    }
    await answered;
  };
  await Promise.all(operations.map(playOne));
};

/** Waits until nothing is under way that could cost something. The scrape is one of the requests in flight. */
const idle = async (gateways: World['gateways']): Promise<void> => {
  for (const { url } of gateways) {
    const underWay = async () => {
      const metrics = await scrape(url);
      return (
        metrics.sum('gateway_upstream_requests_in_flight') + metrics.sum('gateway_http_requests_in_flight')
      );
    };
    await expect.poll(underWay, { interval: 5 }).toBe(1);
  }
};

/** A retry waits less long, in a timer that no metric shows. */
const BACKOFF_MS = 250;

const isRetried = ({ status, cutAfterBytes }: Treatment): boolean =>
  status === 503 || status === 429 || cutAfterBytes !== undefined;

/** Waits until no request is in progress, nor a retry of one that no operation waits for any longer. */
const quiet = async ({ gateways, service }: World, treatments: readonly Treatment[]): Promise<void> => {
  for (let received = -1; received !== service.received(); ) {
    received = service.received();
    await idle(gateways);
    if (!treatments.some(isRetried)) continue;
    // All are timers of this process, so they come before this one.
    await sleep(BACKOFF_MS);
    await idle(gateways);
  }
};

const metricsOfAll = async ({ gateways }: World) => {
  const each = await Promise.all(gateways.map(metricsOf));
  return {
    upstream: sum(each.map(({ upstream }) => upstream)),
    operations: sum(each.map(({ operations }) => operations)),
  };
};

type Case = { readonly rounds: readonly (readonly Operation[])[]; readonly treatments: readonly Treatment[] };

const casesOf = (treatments: fc.Arbitrary<Treatment>): fc.Arbitrary<Case> =>
  fc.record({
    rounds: fc.array(fc.array(operation, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    treatments: fc.array(treatments, { minLength: 1, maxLength: 12 }),
  });

const expectSameSums = async (
  world: World,
  { rounds, treatments }: Case,
  mayLeave: boolean,
): Promise<number> => {
  const { service } = world;
  const clients = await world.newClients();
  const [billed, metrics] = [service.billed(), await metricsOfAll(world)];
  service.treat(treatments);
  const wallets = service.addWallets();
  for (const operations of rounds) {
    await play(world, operations, clients.credentials, wallets, mayLeave);
    world.advance();
  }
  /** What each says beyond what upstream billed. */
  const excess = async () => {
    const { upstream, operations } = await metricsOfAll(world);
    const due = service.billed() - billed;
    return {
      budgets: (await clients.charged()) - due,
      upstream: upstream - metrics.upstream - due,
      operations: operations - metrics.operations - due,
    };
  };
  await quiet(world, treatments);
  await expect.poll(excess, { interval: 20 }).toEqual({ budgets: 0, upstream: 0, operations: 0 });
  return service.billed() - billed;
};

const kinds = [
  {
    kind: 'of clients that leave, and of requests that time out',
    treatments: slowly,
    timeoutMs: '400',
    mayLeave: true,
  },
  {
    kind: 'of an upstream that states its own costs',
    treatments: stating,
    timeoutMs: '60000',
    mayLeave: false,
  },
];

describe.each([
  { where: 'one gateway', start: startAlone, needed: async () => {} },
  { where: 'two gateways on one Redis', start: startTwo, needed: needRedis },
])('$where: clients are charged what upstream bills', ({ start, needed }) => {
  test.for(kinds)('$kind', async ({ treatments, timeoutMs, mayLeave }, context) => {
    await needed(context);
    await using world = await start(timeoutMs);
    let billed = 0;
    await fc.assert(
      fc.asyncProperty(casesOf(treatments), async (drawn) => {
        billed += await expectSameSums(world, drawn, mayLeave);
      }),
      { numRuns: runs(12, 5), endOnFailure: true },
    );
    expect(billed).toBeGreaterThan(8);
  });
});
