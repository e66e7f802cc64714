import { cp, mkdtemp, open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { sleep } from '../../support/clients/queries.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { temporaryDirectory } from '../support/builders.ts';
import { loseDelivery } from '../support/stored.ts';

/** A gateway over a log that is damaged while it runs: it reports the damage, neither stores nor reads, and recovers. */

const COUNT = 120;
const FILLER = 'x'.repeat(6000);

const bodyOf = (number: number) => ({ number, filler: FILLER });

type Read = { deliveries: { head: string; nodes: { payload: object }[] } };

const READ_ALL = `{ deliveries(first: ${COUNT}) { nodes { payload } } }`;

const readiness = async (gateway: Gateway) => {
  const response = await fetch(`${gateway.url}/health/ready`);
  return [response.status, await response.json()];
};

/** A folder with a log of COUNT deliveries. */
let filled: string;

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-damage-'));
  filled = dataDir;
  await using gateway = await start(dataDir);
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  for (let number = 0; number < COUNT; number += 1)
    expect(await deliver(url, { body: bodyOf(number) })).toBe(200);
  await gateway.stop();
  return () => rm(dataDir, { recursive: true });
});

const copyOfFilled = async (): Promise<string> => {
  const dataDir = await temporaryDirectory();
  await cp(filled, dataDir, { recursive: true });
  return dataDir;
};

const ENV = { UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: 'unused', AUTH: 'open' };

const start = (dataDir: string): Promise<Gateway> => startGateway({ ...ENV, DATA_DIR: dataDir });

const overwrite = async (path: string, at: number, bytes: Uint8Array): Promise<void> => {
  const file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, at);
  await file.close();
};

/** Damages the log's file. The returned function repairs it. */
type Damage = (path: string) => Promise<() => Promise<void>>;

const overwriting =
  (from: number, to: number): Damage =>
  async (path) => {
    const whole = await readFile(path);
    const [start, end] = [from, to].map((part) => Math.floor((part * whole.length) / 4096) * 4096);
    await overwrite(path, start ?? 0, Buffer.alloc((end ?? 0) - (start ?? 0), 0xa5));
    return () => overwrite(path, start ?? 0, whole.subarray(start, end));
  };

const DAMAGES: [what: string, damage: Damage][] = [
  ['whose pages in the middle are overwritten', overwriting(0.25, 0.75)],
  [
    // SQLite checks the structure of its pages only: this body is not the one that was stored.
    'with changed bytes in one body',
    async (path) => {
      const whole = await readFile(path);
      const at = whole.indexOf(FILLER.slice(0, 100), whole.length / 2) + 50;
      await overwrite(path, at, Buffer.from('y'));
      return () => overwrite(path, at, Buffer.from('x'));
    },
  ],
  [
    'that has lost a delivery',
    async (path) => {
      const putBack = loseDelivery(dirname(path), 60);
      return async () => putBack();
    },
  ],
  [
    'that is cut',
    async (path) => {
      const whole = await readFile(path);
      await truncate(path, whole.length / 2);
      return () => overwrite(path, 0, whole);
    },
  ],
  [
    'that is moved away',
    async (path) => {
      await rename(path, `${path}.away`);
      return () => rename(`${path}.away`, path);
    },
  ],
  [
    'that is deleted',
    async (path) => {
      await cp(path, `${path}.copy`);
      await rm(path);
      return () => rename(`${path}.copy`, path);
    },
  ],
  [
    'that another file replaces',
    async (path) => {
      await rename(path, `${path}.away`);
      await writeFile(path, 'another file');
      return () => rename(`${path}.away`, path);
    },
  ],
];

test.each(DAMAGES)(
  'a log %s is not ready, neither stores nor reads, is reported once, and recovers',
  async (_what, damage) => {
    const dataDir = await copyOfFilled();
    await using gateway = await start(dataDir);
    const { deliveryUrl: url, head } = await deliveriesOf(gateway.url);
    expect(await readiness(gateway)).toEqual([200, { status: 'ready' }]);
    await using dashboard = subscribe(gateway.url, { after: head });
    await dashboard.opened;
    const path = join(dataDir, 'deliveries.db');
    const mend = await damage(path);

    for (let round = 0; round < 3; round += 1) {
      const answer = await gateway.query(READ_ALL);
      expect(answer.data).toEqual({ deliveries: null });
      expect(codesOf(answer)).toEqual(['LOG_UNAVAILABLE']);
      expect(answer.errors?.[0]?.message).toBe('The log of deliveries can not be read now.');
    }
    await expect.poll(() => readiness(gateway)).toMatchObject([503, { reasons: [{ part: 'deliveries' }] }]);
    const refused = await fetch(url, { method: 'POST', body: '{"number":-1}' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);

    await mend();
    await expect.poll(() => readiness(gateway)).toEqual([200, { status: 'ready' }]);
    expect(await deliver(url, { body: bodyOf(COUNT) })).toBe(200);
    const { deliveries } = await gateway.data<Read>(READ_ALL.replace(`${COUNT}`, `${COUNT + 1}`));
    expect(deliveries.nodes.map(({ payload }) => payload)).toEqual(
      Array.from({ length: COUNT + 1 }, (_, number) => bodyOf(number)),
    );
    await eventually(
      () => dashboard.edges.length === 1,
      () => dashboard.faults,
    );
    const logged = gateway.logLines.filter((line) => /delivery log: |retention failed/.test(line));
    expect(logged.map((line) => JSON.parse(line)).map(({ level, msg }) => [level, msg])).toEqual([
      ['error', 'delivery log: damaged'],
      ['info', 'delivery log: repaired'],
    ]);
    await gateway.stop();
    await using again = await start(dataDir);
    expect((await again.data<Read>(READ_ALL)).deliveries.nodes).toHaveLength(COUNT);
  },
);

const HEAD = '{ deliveries(last: 1) { head nodes { payload } } }';

test('a stored delivery is not lost with the -wal file that it was first written to', async () => {
  const dataDir = await copyOfFilled();
  await using gateway = await spawnGateway({ ...ENV, DATA_DIR: dataDir });
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  expect(await deliver(url, { body: bodyOf(COUNT) })).toBe(200);
  await rm(join(dataDir, 'deliveries.db-wal'));
  expect(await deliver(url, { body: bodyOf(COUNT + 1) })).toBe(503);
  await expect.poll(() => deliver(url, { body: bodyOf(COUNT + 1) })).toBe(200);
  await gateway.end('SIGKILL');
  await using again = await start(dataDir);
  const { deliveries } = await again.data<Read>('{ deliveries(last: 2) { nodes { payload } } }');
  expect(deliveries.nodes).toEqual([{ payload: bodyOf(COUNT) }, { payload: bodyOf(COUNT + 1) }]);
});

test('an older copy that replaces a log without unwritten deliveries becomes the log', async () => {
  const dataDir = await copyOfFilled();
  {
    await using gateway = await start(dataDir);
    const { deliveryUrl: url } = await deliveriesOf(gateway.url);
    expect(await deliver(url, { body: bodyOf(COUNT) })).toBe(200);
  }
  await using gateway = await start(dataDir);
  const { head } = (await gateway.data<Read>(HEAD)).deliveries;
  await rename(join(await copyOfFilled(), 'deliveries.db'), join(dataDir, 'deliveries.db'));
  await expect
    .poll(() => gateway.query(HEAD))
    .toMatchObject({ data: { deliveries: { nodes: [{ payload: bodyOf(COUNT - 1) }] } } });
  const replaced = await deliveriesOf(gateway.url);
  await using dashboard = subscribe(gateway.url, { after: replaced.head });
  expect(await deliver(replaced.deliveryUrl, { body: bodyOf(-1) })).toBe(200);
  await eventually(() => dashboard.edges.length === 1);
  await using lost = subscribe(gateway.url, { after: head });
  await lost.ended;
  expect(lost.faults).toMatchObject([{ extensions: { code: 'CURSOR_EXPIRED', reason: 'replaced' } }]);
});

test('deliveries of the -wal file are never written into another file', async () => {
  const dataDir = await copyOfFilled();
  await using gateway = await start(dataDir);
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  expect(await deliver(url, { body: bodyOf(COUNT) })).toBe(200);
  const [path, away] = [join(dataDir, 'deliveries.db'), join(dataDir, 'away')];
  await rename(path, away);
  await cp(join(filled, 'deliveries.db'), path);
  const copy = await readFile(path);
  await expect.poll(() => readiness(gateway)).toMatchObject([503, {}]);
  // The gateway checks the files again a few times in this time.
  await sleep(3000);
  expect(await readiness(gateway)).toMatchObject([503, {}]);
  expect((await readFile(path)).equals(copy)).toBe(true);
  await rename(away, path);
  await expect.poll(() => readiness(gateway)).toMatchObject([200, {}]);
  expect((await gateway.data<Read>(HEAD)).deliveries.nodes).toEqual([{ payload: bodyOf(COUNT) }]);
});
