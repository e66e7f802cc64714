import { createClient } from '@redis/client';
import { expect } from 'vitest';
import type { RedisServer } from '../redis/server.ts';
import { freshAddress } from '../upstream/builders.ts';
import { createTestClock } from './clock.ts';
import { scrape } from './prometheus.ts';
import { type Gateway, startGateway } from './start.ts';

/** The budget of each client. */
const PER_MINUTE = 900;

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

/** How a gateway calls the script that changes a bucket; the units are what it takes, or gives back. */
const CHANGE = /"gateway:budget:[^"]+" "(-?\d+)" "\d+" "[01]"$/;
const WRITE = /^\S+ \[\d+ lua\] "HSET" "gateway:budget:/;

/**
 * Counts what all clients of gateways on one Redis are charged from now on. It watches what the gateways take and give back,
 * because a bucket's level does not tell: it rises by the clock of Redis, however long a test takes.
 */
export const watchCharges = async ({ url }: Pick<RedisServer, 'url'>) => {
  let charged = 0;
  let units = 0;
  const client = await createClient({ url }).connect();
  await client.monitor((line) => {
    const [, changed] = CHANGE.exec(String(line)) ?? [];
    if (changed !== undefined) units = Number(changed);
    // What is refused is not written. No other command comes between a script and what it writes.
    else if (WRITE.test(String(line))) charged += units;
  });
  return { charged: () => charged, [Symbol.dispose]: () => client.destroy() };
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
    .poll(async () => ({ budget: await chargedTo(gateway), ...(await metricsOf(gateway)) }))
    .toEqual({ budget: computeUnits, upstream: computeUnits, operations: computeUnits });
