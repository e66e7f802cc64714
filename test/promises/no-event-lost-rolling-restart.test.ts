import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { activity, deliver } from '../support/clients/deliver.ts';
import { sleep } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { startBalancer } from '../support/gateway/balancer.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { heldKey } from '../support/gateway/start.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A deploy: the shipped gateway, restarted by SIGTERM behind a load balancer that polls its readiness. */

const CLIENTS = 8;

/** Creates a directory for one gateway, which is deleted when the test has finished. */
const startFolders = async () => {
  const root = await mkdtemp(join(tmpdir(), 'gateway-rolling-'));
  return {
    of: (name: string) => join(root, name),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
};

test('two gateways restarted one after another under load fail no request', async () => {
  await using folders = await startFolders();
  await using fake = await startFakeWallets();
  await using balancer = await startBalancer();
  await using running = new AsyncDisposableStack();
  const start = async (name: string) => {
    const env = { UPSTREAM_URL: fake.url, UPSTREAM_API_KEY: heldKey, DATA_DIR: folders.of(name) };
    const gateway = running.use(await spawnGateway(env));
    await balancer.add(gateway.url);
    return gateway;
  };
  const gateways = [await start('a'), await start('b')];

  const statuses = new Map<number | string, number>();
  let underLoad = true;
  const client = async () => {
    while (underLoad) {
      const query = `{ wallet(address: "${freshAddress()}") { transactions(first: 1) { nodes { hash } } } }`;
      const outcome = await fetch(`${balancer.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
        .then(async (response) => ((await response.text()).includes('"errors"') ? 'errors' : response.status))
        .catch(({ cause }: Error) => String(cause));
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      await sleep(5);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);

  const codes: (number | null)[] = [];
  const durations: number[] = [];
  for (const [index, gateway] of gateways.entries()) {
    await sleep(300);
    const since = performance.now();
    codes.push(await gateway.end('SIGTERM'));
    durations.push(performance.now() - since);
    balancer.remove(gateway.url);
    await start('ab'[index] ?? '');
  }
  await sleep(300);
  underLoad = false;
  await Promise.all(clients);

  expect([...statuses.keys()]).toEqual([200]);
  expect(statuses.get(200)).toBeGreaterThan(100);
  process.stdout.write(
    `Two restarts under load: ${statuses.get(200)} requests answered, none failed; stopping took ${durations.map(Math.round).join(' and ')} ms.\n`,
  );
  expect(codes).toEqual([0, 0]);
  for (const ms of durations) expect(ms).toBeLessThan(30_000);
});

test('a gateway restarted on its own log loses no event, and sends none twice', async () => {
  const DELIVERIES = 300;
  await using folders = await startFolders();
  await using balancer = await startBalancer();
  await using running = new AsyncDisposableStack();
  const start = async () => {
    const env = { UPSTREAM_URL: balancer.url, UPSTREAM_API_KEY: heldKey };
    const own = { DATA_DIR: folders.of('log'), PUBLIC_URL: balancer.url };
    const gateway = running.use(await spawnGateway({ ...env, ...own }));
    await balancer.add(gateway.url);
    return gateway;
  };
  const first = await start();
  const ask = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${balancer.url}/graphql`, { ...ask, body: '{"query":"{ deliveryUrl }"}' });
  const { deliveryUrl } = ((await answer.json()) as { data: { deliveryUrl: string } }).data;

  const received: number[] = [];
  const closes: number[] = [];
  const resume = async () => {
    for (let after: string | undefined; received.length < DELIVERIES; await sleep(20)) {
      await using dashboard = subscribe(balancer.url, after === undefined ? {} : { after });
      await Promise.race([
        dashboard.ended,
        eventually(() => received.length + dashboard.edges.length >= DELIVERIES),
      ]);
      after = dashboard.edges.at(-1)?.cursor ?? after;
      received.push(...dashboard.edges.map(({ node }) => blockOf(node)));
      closes.push(...dashboard.closes);
    }
  };
  const send = async () => {
    for (let number = 1; number <= DELIVERIES; number += 1) {
      while ((await deliver(deliveryUrl, { body: activity(number) })) !== 200) await sleep(50);
      await sleep(5);
    }
  };
  const dashboard = resume();
  await sleep(500);
  const sent = send();
  await sleep(500);
  expect(await first.end('SIGTERM')).toBe(0);
  balancer.remove(first.url);
  await start();
  await sent;
  await dashboard;

  expect(received).toEqual(Array.from({ length: DELIVERIES }, (_, index) => index + 1));
  expect(closes).toContain(1012);
});

const blockOf = ({ payload }: Record<string, unknown>): number =>
  (payload as { activities: { block_number: number }[] }).activities[0]?.block_number ?? 0;
