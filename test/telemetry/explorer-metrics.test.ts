import { expect, test } from 'vitest';
import { startIndexService } from '../../src/app/index-service.ts';
import { OPERATIONS } from '../../src/backend/explorer/client/operations.ts';
import { createLog } from '../../src/lib/log.ts';
import { KEY } from '../backend/explorer/support/asking.ts';
import { madeUp, WALLET } from '../support/blockscout/made-up.ts';
import { startBlockscout } from '../support/blockscout/server.ts';
import { folderOf } from '../support/folder.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { startGateway } from '../support/gateway/start.ts';

/** What an operator sees of explorers: credits and requests, in metrics and in health. */

const TRANSACTIONS = `query ($address: Address!, $chains: [ChainId!]) {
  wallet(address: $address) { transactions(first: 5, chainIds: $chains) { nodes { hash } } }
}`;

type Health = {
  status: string;
  explorers: { explorer: string; credits?: { left: number; resetAt: string }; pause?: object }[];
};

const healthAt = async (url: string): Promise<Health> => (await fetch(url)).json() as Promise<Health>;

test('what is left, what was asked for and why nothing is asked now are in metrics and in health', async () => {
  await using hosted = await startBlockscout({
    chains: [{ id: 1, contents: madeUp() }],
    hosted: { key: KEY, perSecond: 1_000 },
  });
  await using instance = await startBlockscout({ chains: [{ id: 100, contents: madeUp({}, 100) }] });
  await using gateway = await startGateway({
    ...{ BLOCKSCOUT: `1,100=${instance.url}`, BLOCKSCOUT_API_KEY: KEY, BLOCKSCOUT_URL: hosted.url },
  });
  await gateway.data(TRANSACTIONS, { address: WALLET, chains: [1, 100] });
  const { addressTransactions, backendVersion } = OPERATIONS;
  const credits = addressTransactions.credits + backendVersion.credits;
  const { series, sum } = await scrape(gateway.url);
  const of = (name: string, labels: string) => series.get(`gateway_explorer_${name}{${labels}}`);
  expect(of('credits_left', 'explorer="hosted"')).toBe(hosted.creditsLeft());
  expect(of('credits_left', 'explorer="100"')).toBeUndefined();
  expect(of('credits_reset_seconds', 'explorer="hosted"')).toBeGreaterThan(0);
  for (const explorer of ['hosted', '100']) {
    expect(of('requests_total', `explorer="${explorer}",operation="addressTransactions"`)).toBe(1);
    expect(of('requests_waiting', `explorer="${explorer}"`)).toBe(0);
  }
  expect(sum('gateway_explorer_credits_total')).toBe(credits);
  expect(sum('gateway_explorer_pause_seconds')).toBe(0);
  const health = await healthAt(`${gateway.url}/health/ready`);
  expect(health).toMatchObject({
    status: 'ready',
    explorers: [
      {
        explorer: 'hosted',
        credits: { left: hosted.creditsLeft(), resetAt: expect.stringMatching(/T00:01:00\.000Z$/) },
        requests: { waiting: 0, underWay: 0 },
        operations: expect.arrayContaining([
          { operation: 'addressTransactions', requests: 1, credits: addressTransactions.credits },
        ]),
      },
      { explorer: '100', operations: expect.arrayContaining([{ operation: 'backendVersion', requests: 1 }]) },
    ],
  });
  expect(health.explorers[1]).not.toHaveProperty('credits');

  instance.plant({ status: 429, json: { message: 'Too many requests' } });
  await gateway.data(TRANSACTIONS, { address: `0x${'77'.repeat(20)}`, chains: [1, 100] });
  await expect
    .poll(async () => (await healthAt(`${gateway.url}/health/ready`)).explorers[1])
    .toMatchObject({ explorer: '100', pause: { reason: 'rateLimited', until: expect.any(String) } });
  expect(await healthAt(`${gateway.url}/health/ready`)).toMatchObject({
    status: 'degraded',
    reasons: [
      {
        part: 'explorers',
        message: expect.stringMatching(
          /^The explorer of chain 100 had too many requests\. It is asked again at 20/,
        ),
      },
    ],
  });
  const paused = await scrape(gateway.url);
  expect(paused.sum('gateway_explorer_pause_seconds', { explorer: '100' })).toBeGreaterThan(0);
  for (const shown of [JSON.stringify(health), [...paused.series.keys()].join()]) {
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(new URL(instance.url).host);
  }
});

test('the service that runs alone says the same', async () => {
  await using instance = await startBlockscout({ chains: [{ id: 1, contents: madeUp() }] });
  await using folder = await folderOf({});
  const service = await startIndexService(
    { API_KEY: 'key', PORT: '0', BLOCKSCOUT: `1=${instance.url}`, DATA_DIR: folder.path('.') },
    createLog('error', () => {}),
  );
  try {
    const requests = async () =>
      (await scrape(service.url)).sum('gateway_explorer_requests_total', { explorer: '1' });
    await expect.poll(requests).toBe(1);
    expect(await healthAt(`${service.url}/health`)).toMatchObject({
      status: 'ok',
      explorers: [{ explorer: '1', operations: [{ operation: 'backendVersion', requests: 1 }] }],
    });
  } finally {
    await service.stop();
  }
});
