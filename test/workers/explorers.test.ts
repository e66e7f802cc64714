import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/backend/explorer/client/operations.ts';
import { madeUp, WALLET } from '../support/blockscout/made-up.ts';
import { startBlockscout } from '../support/blockscout/server.ts';
import { clientOf } from '../support/clients/graphql-client.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { spawnWorkers } from '../support/gateway/workers.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** The credits of a day. */
const FREE = 100_000;
const KEY = 'proapi_of-all-workers-0123456789';

test('readiness and metrics name each explorer once, with what all workers have asked of it', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using hosted = await startBlockscout({
    chains: [{ id: 1, contents: madeUp() }],
    hosted: { key: KEY, perSecond: 1_000 },
  });
  await using gateway = await spawnWorkers(redis.url, {
    ...{ UPSTREAM_URL: '', BLOCKSCOUT: '1', BLOCKSCOUT_API_KEY: KEY, BLOCKSCOUT_URL: hosted.url },
  });
  const ready = async () => (await fetch(`${gateway.url}/health/ready`)).json();
  // Each worker has asked for the version.
  await expect.poll(ready, { timeout: 30_000 }).toMatchObject({
    status: 'ready',
    explorers: [
      {
        explorer: 'hosted',
        credits: { left: FREE - 2 * OPERATIONS.backendVersion.credits },
        operations: [{ operation: 'backendVersion', requests: 2 }],
      },
    ],
  });
  const metrics = await scrape(gateway.url);
  expect(metrics.sum('gateway_explorer_requests_total')).toBe(2);
  expect(metrics.sum('gateway_explorer_credits_left')).toBe(hosted.creditsLeft());

  hosted.plant({ status: 402, json: { error: 'Out of credits' } });
  await clientOf(gateway.url).query(`{ wallet(address: "${WALLET}") { name(chainId: 1) } }`);
  await expect.poll(ready, { timeout: 30_000 }).toMatchObject({
    status: 'degraded',
    reasons: [{ part: 'explorers', message: expect.stringContaining('no credits left') }],
    explorers: [{ pause: { reason: 'outOfCredits' } }],
  });
  // Both workers know of it, and say the same.
  await expect.poll(async () => (await ready()).reasons).toHaveLength(1);
});
