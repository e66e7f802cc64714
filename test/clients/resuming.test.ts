import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { GraphQLTaggedNode } from 'relay-runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { byApollo } from '../../examples/resuming/apollo.ts';
import { byEventStreams } from '../../examples/resuming/event-streams.ts';
import { byGraphQLWs } from '../../examples/resuming/graphql-ws.ts';
import { openPage, type Subscribe } from '../../examples/resuming/page.ts';
import { byRelay, createEnvironment } from '../../examples/resuming/relay.ts';
import { byUrql } from '../../examples/resuming/urql.ts';
import { deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { sleep } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { nowhere } from '../support/gateway/start.ts';

/** What docs/resuming-clients.md shows, while the shipped gateway is killed under deliveries. */

/** Clients wait longer each time that they find no gateway, and a busy machine starts one slowly. */
const TIMEOUT_MS = 90_000;

const root = join(import.meta.dirname, '../..');

let relayFolder: string;
let relaySubscription: GraphQLTaggedNode;

beforeAll(async () => {
  relayFolder = await mkdtemp(join(tmpdir(), 'relay-resuming-'));
  await mkdir(join(relayFolder, 'src'));
  await cp(join(root, 'schema.graphql'), join(relayFolder, 'schema.graphql'));
  const document =
    'subscription feedSubscription($after: String!) { deliveries(after: $after) { cursor node { payload } } }';
  await writeFile(join(relayFolder, 'src/feed.js'), `graphql\`${document}\`;`);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: false };
  await writeFile(join(relayFolder, 'relay.config.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: relayFolder });
  relaySubscription = createRequire(join(relayFolder, 'src/'))(
    './__generated__/feedSubscription.graphql.js',
  ) as GraphQLTaggedNode;
});

afterAll(() => rm(relayFolder, { recursive: true }));

const CLIENTS: readonly (readonly [name: string, by: (url: string) => Subscribe])[] = [
  ['graphql-ws', byGraphQLWs],
  ['Apollo Client', byApollo],
  ['urql', byUrql],
  ['Relay', (url) => byRelay(createEnvironment(url), relaySubscription)],
  ['event streams', byEventStreams],
];

/** The gateway on one port and one folder, as often as it is started. */
const startGateways = async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-resuming-'));
  const env = { UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: 'unused', DATA_DIR: dataDir };
  let running = await spawnGateway(env);
  const { url } = running;
  return {
    url,
    dataDir,
    end: (signal: NodeJS.Signals) => running.end(signal),
    async start() {
      running = await spawnGateway({ ...env, PORT: new URL(url).port });
    },
    async [Symbol.asyncDispose]() {
      await running.end('SIGKILL');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

/** Posts 1, 2, 3, … until it is stopped, and repeats each until the gateway answers 2xx, as the service does. */
const startPosting = (deliveryUrl: string, from = 1) => {
  let number = from;
  let isOver = false;
  const posting = (async () => {
    for (; !isOver; number += 1) {
      while ((await deliver(deliveryUrl, { body: { number } })) !== 200) await sleep(50);
      await sleep(10);
    }
  })();
  return {
    posted: () => number - 1,
    async stop(): Promise<number[]> {
      isOver = true;
      await posting;
      return Array.from({ length: number - from }, (_, index) => from + index);
    },
  };
};

/** A page that shows what it gets by each client. */
const openPages = async (url: string, scenario: string) => {
  const pages = CLIENTS.map(([name, by]) => {
    const page = { name, numbers: [] as number[], refetched: 0, failures: [] as unknown[], stop: () => {} };
    const open = () => {
      page.stop = openPage(`${scenario}: ${name}`, by(url), {
        async refetch() {
          const { head } = await deliveriesOf(url);
          page.refetched += 1;
          return head;
        },
        delivery: ({ payload }) => page.numbers.push((payload as { number: number }).number),
        failed: (reason) => page.failures.push(reason),
      });
    };
    return Object.assign(page, { open });
  });
  for (const { open } of pages) open();
  await eventually(() => pages.every(({ refetched }) => refetched === 1));
  return Object.assign(pages, {
    reload: () => {
      for (const { stop } of pages) stop();
      for (const { open } of pages) open();
    },
    /** Resolves when each has had this delivery, or one after it. */
    toHave: (number: number) =>
      eventually(
        () => pages.every(({ numbers }) => (numbers.at(-1) ?? 0) >= number),
        () => pages.map(({ name, numbers, failures }) => [name, numbers.at(-1), failures]),
        TIMEOUT_MS,
      ),
    [Symbol.dispose]: () => {
      for (const { stop } of pages) stop();
    },
  });
};

test('graphql-ws, Apollo, urql, Relay and event streams miss nothing and get nothing twice over a kill, a restart and reloads', async () => {
  await using gateway = await startGateways();
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  using pages = await openPages(gateway.url, 'kills');
  const posting = startPosting(deliveryUrl);
  await pages.toHave(10);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await gateway.end(signal);
    await gateway.start();
    await pages.toHave(posting.posted() + 10);
    pages.reload();
  }
  const posted = await posting.stop();
  await pages.toHave(posted.length);

  expect(posted.length).toBeGreaterThan(20);
  for (const { name, numbers, refetched, failures } of pages) {
    expect(numbers, name).toEqual(posted);
    expect(refetched, name).toBe(1);
    expect(failures, name).toEqual([]);
  }
}, 300_000);

test('where the log was lost, each reads anew once and goes on from there', async () => {
  await using gateway = await startGateways();
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  using pages = await openPages(gateway.url, 'loss');
  const before = startPosting(deliveryUrl);
  await pages.toHave(3);
  await gateway.end('SIGKILL');
  const old = before.stop();
  for (const file of await readdir(gateway.dataDir))
    if (file.startsWith('deliveries.db')) await rm(join(gateway.dataDir, file));
  await gateway.start();
  await old;
  await eventually(
    () => pages.every(({ refetched }) => refetched === 2),
    () => pages.map(({ name, refetched, failures }) => [name, refetched, failures]),
    TIMEOUT_MS,
  );
  const known = pages.map(({ numbers }) => numbers.length);
  const later = startPosting(deliveryUrl, 1_000_000);
  await pages.toHave(1_000_003);
  const posted = await later.stop();
  await pages.toHave(posted.at(-1) ?? 0);

  for (const [index, { name, numbers, refetched, failures }] of pages.entries()) {
    expect(numbers.slice(known[index]), name).toEqual(posted);
    expect(refetched, name).toBe(2);
    expect(failures, name).toEqual([]);
  }
}, 300_000);

test('docs/resuming-clients.md shows each client, and no code but what these tests run', async () => {
  const page = await readFile(join(root, 'docs/resuming-clients.md'), 'utf8');
  const folder = join(root, 'examples/resuming');
  const modules = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
  );
  const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
  const snippets = blocks
    .filter(([, language]) => language !== 'sh')
    .map(([, language, code = '']) => {
      expect(language, code).toBe('ts');
      return code;
    });
  expect(snippets.filter((code) => !modules.some((module) => module.includes(code)))).toEqual([]);
  expect(modules.filter((module) => !snippets.some((code) => module.includes(code)))).toEqual([]);
});
