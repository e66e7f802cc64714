import { expect, vi } from 'vitest';
import type { Clock } from '../../../src/lib/deadlines.ts';
import { poll } from '../clients/queries.ts';
import { scrape } from '../gateway/prometheus.ts';
import { type Gateway, startGateway } from '../gateway/start.ts';
import { freshAddress, history } from '../upstream/builders.ts';
import { servingTransactions } from '../upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../upstream/wallets.ts';
import { startRedis } from './server.ts';

/** Gateways that share their pages over Redis, and wallets that show which gateway has fetched what. */

/** Pages stay fresh for as long as a test takes. */
export const startOnRedis = (
  fake: FakeWallets,
  redisUrl: string,
  env: Record<string, string | undefined> = {},
  now?: Clock,
) =>
  startGateway(
    { UPSTREAM_URL: fake.url, AUTH: 'open', REDIS_URL: redisUrl, CACHE_HEAD_MS: '600000', ...env },
    now && { now },
  );

/** A wallet whose newest transaction is another one on each request. */
export const growing = (fake: FakeWallets) => {
  const address = freshAddress();
  const items = history(30);
  let requests = 0;
  fake.transactions.set(address, (request) => {
    requests += 1;
    return servingTransactions(items.slice(30 - requests))(request);
  });
  return address;
};

/** Holds the answers of a wallet until `open`, with what upstream had when the request came. */
export const held = (fake: FakeWallets) => {
  const address = growing(fake);
  const serve = fake.transactions.get(address);
  const gate = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    const reply = await serve?.(request);
    await gate.promise;
    return reply ?? {};
  });
  return { address, open: gate.resolve };
};

export const redisServers = async () => ({
  log: await startRedis(),
  cache: await startRedis({ settings: ['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'] }),
});

/** Waits until the gateway has asked this of the Redis that it shares, and has its reply. */
export const hasRun = (gateway: Gateway, task: string, times = 1) =>
  vi.waitFor(async () => {
    const metrics = await scrape(gateway.url);
    expect(metrics.sum('gateway_shared_duration_seconds_count', { task })).toBeGreaterThanOrEqual(times);
  }, 60_000);

export const usageOf = async (gateway: Gateway, address: string) =>
  (await poll(gateway, address)).extensions.upstream;

/** Two gateways over one service, which share one Redis. */
export const startTwo = async (redisUrl: string, env: Record<string, string | undefined> = {}) => {
  await using started = new AsyncDisposableStack();
  const fake = started.use(await startFakeWallets());
  const first = started.use(await startOnRedis(fake, redisUrl, env));
  const second = started.use(await startOnRedis(fake, redisUrl, env));
  const running = started.move();
  return { fake, first, second, [Symbol.asyncDispose]: () => running.disposeAsync() };
};
