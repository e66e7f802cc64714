import { expect } from 'vitest';
import type { RedisServer } from '../redis/server.ts';
import { freshAddress } from '../upstream/builders.ts';
import { createTestClock } from './clock.ts';
import { scrape } from './prometheus.ts';
import { type Gateway, startGateway } from './start.ts';

/** The budget of each client. */
export const PER_MINUTE = 900;

/** Its estimate is more than a minute's budget, so it is refused, and the refusal says what its client has left. */
const TOO_MUCH = `{ wallets(addresses: ${JSON.stringify(Array.from({ length: 91 }, freshAddress))}) {
  transactions(first: 1000) { nodes { hash } }
} }`;

/** A gateway whose clients have budgets that do not fill, so that they show each charge, and a clock to put forward. */
export const startCharging = async (env: Record<string, string | undefined>) => {
  const clock = createTestClock();
  const budget = { CLIENT_COMPUTE_UNITS_PER_MINUTE: String(PER_MINUTE), MAX_COMPUTE_UNITS: '1000' };
  return Object.assign(await startGateway({ ...budget, ...env }, { now: clock.now }), {
    advance: clock.advance,
  });
};

/** What a client has been charged so far; at most 900 compute units. */
export const chargedTo = async (gateway: Gateway, credentials: Record<string, string> = {}) => {
  const { errors } = await gateway.query(TOO_MUCH, {}, credentials);
  const refusal = errors?.[0]?.extensions as { allowedComputeUnits?: number } | undefined;
  return PER_MINUTE - (refusal?.allowedComputeUnits ?? Number.NaN);
};

/** The buckets of the clients of gateways on one Redis: compute units, and the time of Redis in milliseconds. */
export const bucketsIn = async (redis: Pick<RedisServer, 'run'>) => {
  const names = (await redis.run('KEYS', 'gateway:budget:*')) as string[];
  const buckets = names.map(async (name) => {
    const [level, at] = (await redis.run('HMGET', name, 'level', 'at')) as string[];
    return { name, level: Number(level), at: Number(at) };
  });
  return Promise.all(buckets);
};

/** What the metrics of a gateway say that its requests and its operations have cost. */
export const metricsOf = async ({ url }: Pick<Gateway, 'url'>) => {
  const { sum } = await scrape(url);
  return {
    upstream: sum('gateway_upstream_compute_units_total'),
    operations: sum('gateway_operation_compute_units_total'),
  };
};

/** Waits until the budget of the one client and the metrics say the same: these compute units. */
export const expectCharged = (gateway: Gateway, computeUnits: number) =>
  expect
    .poll(async () => ({ budget: await chargedTo(gateway), ...(await metricsOf(gateway)) }), {
      timeout: 20_000,
    })
    .toEqual({ budget: computeUnits, upstream: computeUnits, operations: computeUnits });
