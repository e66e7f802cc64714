import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS, openLog, WEBHOOK } from '../deliveries/support/builders.ts';
import { changeFile, openFile, storeMany } from '../deliveries/support/stored.ts';
import { deliverUntilStored } from '../support/clients/deliver.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { runLogCommand, startLogCommand } from '../support/gateway/log-command.ts';
import {
  deliveryPathOf,
  everythingStored,
  headOf,
  post,
  readLog,
  store,
} from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { DELIVERIES_ONLY } from '../support/kills.ts';
import { launchCluster } from '../support/redis/cluster.ts';
import { startForwarder } from '../support/redis/forwarder.ts';
import { needRedis, type RedisServer, startRedis } from '../support/redis/server.ts';

/** `evm-graphql-gateway log …`, as its users run it. */

const TENANTS = 12;
/** The deliveries of each tenant: more than are copied at a time. */
const EACH = 600;
/** Where a copy is not cut. A hundred of them are trimmed. */
const FEW = 150;
/** A copy of all of them is about 1 MB on its way to Redis, and from there. */
const EARLY = 100_000;
const LATE = 600_000;

const newFolder = async () => {
  const folder = await folderOf({});
  onTestFinished(() => folder[Symbol.asyncDispose]());
  return folder;
};

const startGatewayOn = async (place: Record<string, string>) => {
  const gateway = await startGateway({ UPSTREAM_URL: nowhere, AUTH: 'open', ...place });
  onTestFinished(gateway.stop);
  return gateway;
};

/**
 * A log with what a copy could get wrong: trimmed deliveries, an epoch that is not made from the seed, a tenant whose deliveries
 * are all trimmed, two deliveries of one body, a delivery that was stored while the clocks of Redis and a gateway were apart.
 */
const storeLog = async (dataDir: string, each = EACH): Promise<void> => {
  const now = Date.now();
  await mkdir(dataDir);
  storeMany(dataDir, { tenants: TENANTS, each, receivedAt: now }).close();
  const log = await openLog({ dataDir, retentionCount: each - 100, now: () => now });
  await log.trim();
  await log.close();
  const old = now - 100 * HOUR_MS;
  changeFile(
    dataDir,
    `INSERT INTO epoch VALUES (1, x'0102030405060708');
     INSERT INTO delivery (id, webhook, type, chain, received, dispatched, attempt, identity, addresses, body)
       SELECT id + 1, webhook, type, chain, received, dispatched, attempt, identity, addresses, body
       FROM delivery WHERE id = 2 << 40 | ${each};
     UPDATE tenant SET head = head + 1 WHERE id = 2;
     INSERT INTO tenant (id, name, head, floor, indexed, identified) VALUES (100, 'a {b}:c/ä', 7, 7, 7, 7);
     INSERT INTO trimmed VALUES (100, 7, 123456789);
     UPDATE delivery SET received = ${old} WHERE id = 3 << 40 | ${each};
     INSERT INTO stored VALUES (3 << 40 | ${each}, ${now});
     INSERT OR REPLACE INTO time VALUES (1, ${now - 5})`,
  );
};

/** All that a copy must keep of a log in a folder. */
const contentOf = (dataDir: string) => {
  using database = openFile(dataDir);
  const all = (sql: string) => database.prepare(sql).all();
  return {
    log: all('SELECT hex(epoch_seed) FROM log'),
    tenants: all(
      `SELECT name, head, floor, hex(epoch), fingerprint FROM tenant LEFT JOIN epoch ON epoch.tenant = id
       LEFT JOIN trimmed ON trimmed.tenant = id AND sequence = floor ORDER BY name`,
    ),
    deliveries: all(
      `SELECT name, sequence, webhook, type, chain, received, dispatched, attempt, hex(identity), addresses, hex(body), at
       FROM delivery JOIN tenant ON tenant.id = tenant LEFT JOIN stored ON stored.id = delivery.id
       ORDER BY name, sequence`,
    ),
    time: all('SELECT now FROM time'),
  };
};

/** Copies between a folder and Redis, and kills the copy when about as many bytes have passed between it and Redis. */
const killCopy = async (
  { redis, folder, to }: { redis: RedisServer; folder: string; to: 'redis' | 'folder' },
  bytes: number,
): Promise<void> => {
  const forwarder = await startForwarder(redis);
  const held = forwarder.hold(bytes);
  const places = [folder, forwarder.url];
  const command = startLogCommand(['copy', ...(to === 'redis' ? places : places.toReversed())]);
  await Promise.race([held, command.ended.then((ended) => expect.fail(JSON.stringify(ended)))]);
  await command.kill();
};

test('a copy that follows killed ones begins anew, both ways, and keeps all that the log has', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const folder = await newFolder();
  const [first, second] = [folder.path('first'), folder.path('second')];
  await storeLog(first);
  const content = contentOf(first);
  expect(content.deliveries.length).toBeGreaterThan(5000);

  const counts: number[] = [];
  for (const bytes of [EARLY, LATE]) {
    await killCopy({ redis, folder: first, to: 'redis' }, bytes);
    counts.push(Number(await redis.run('DBSIZE')));
    const refused = `this log is an unfinished copy of ${first}: finish it with "log copy"`;
    await expect(startGatewayOn({ REDIS_URL: redis.url })).rejects.toThrow(refused);
    await expect(startGatewayOn({ DATA_DIR: first })).rejects.toThrow(`this log is being copied to`);
  }
  const toRedis = ['copy', first, redis.url];
  const copied = await runLogCommand(toRedis);
  expect(copied).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') });
  expect(Number(/Copied (\d+)/.exec(copied.stdout)?.[1])).toBe(content.deliveries.length);
  // Each was killed with a part of the copy made.
  counts.push(Number(await redis.run('DBSIZE')));
  expect(counts).toEqual(counts.toSorted((one, other) => one - other));
  expect(new Set([0, ...counts]).size).toBe(4);

  await killCopy({ redis, folder: second, to: 'folder' }, LATE);
  expect(contentOf(second).deliveries.length).toBeGreaterThan(0);
  await expect(startGatewayOn({ REDIS_URL: redis.url })).rejects.toThrow(`this log is being copied to`);
  await expect(startGatewayOn({ DATA_DIR: second })).rejects.toThrow('this log is an unfinished copy of');
  expect(await runLogCommand(['copy', redis.url, second])).toMatchObject({ code: 0 });
  expect(contentOf(second)).toEqual(content);
});

test('a copy whose connection is cut says so, and a second one through a new connection succeeds', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const forwarder = await startForwarder(redis);
  const folder = await newFolder();
  const [first, second] = [folder.path('first'), folder.path('second')];
  await storeLog(first);
  const content = contentOf(first);

  const held = forwarder.hold(LATE);
  const cut = startLogCommand(['copy', first, forwarder.url]);
  await held;
  forwarder.cut();
  expect(await cut.ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^(Copied .*\n)*Redis at 127\.0\.0\.1:\d+.*\n$/),
  });
  forwarder.lead(redis);
  expect(await runLogCommand(['copy', first, forwarder.url])).toMatchObject({ code: 0 });
  expect(await runLogCommand(['copy', redis.url, second])).toMatchObject({ code: 0 });
  expect(contentOf(second)).toEqual(content);
});

test('a log is copied to a Cluster and back', async (context) => {
  await needRedis(context);
  await using cluster = await launchCluster();
  const folder = await newFolder();
  const [first, second] = [folder.path('first'), folder.path('second')];
  await storeLog(first, FEW);
  const content = contentOf(first);
  const urls = cluster.urls.join(',');
  expect(await runLogCommand(['copy', first, 'REDIS_URL'], { REDIS_URL: urls })).toMatchObject({ code: 0 });
  expect(await runLogCommand(['copy', urls, 'DATA_DIR'], { DATA_DIR: second })).toMatchObject({ code: 0 });
  expect(contentOf(second)).toEqual(content);
});

test('a place that is in use, or is not empty, is refused with a sentence, and nothing is changed', async (context) => {
  await needRedis(context);
  const [redis, other] = [await startRedis(), await startRedis()];
  const folder = await newFolder();
  const [first, second] = [folder.path('first'), folder.path('second')];
  const refused = async (args: readonly string[], message: string) => {
    const { code, stdout, stderr } = await runLogCommand(args);
    expect({ code, stdout, stderr }).toMatchObject({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('\n    at ');
  };
  await refused(['copy', folder.path('none'), redis.url], `${folder.path('none/deliveries.db')}: ENOENT`);
  await refused(['copy', redis.url, second], `${redis.url}: expected a delivery log, found none`);
  await refused(['copy', first, second], 'Expected a folder and a Redis to copy between');
  await refused(['copy', first, 'redis://127.0.0.1:9'], 'ENOENT');

  // While gateways run.
  const inFolder = await startGatewayOn({ DATA_DIR: first });
  await store(inFolder.url, await deliveryPathOf(inFolder.url), 1);
  await refused(['copy', first, redis.url], 'the delivery log is in use by another process');
  const onRedis = await startGatewayOn({ REDIS_URL: redis.url });
  await store(onRedis.url, await deliveryPathOf(onRedis.url), 1);
  await inFolder.stop();
  await refused(['copy', first, redis.url], `${redis.url}: expected no gateway on this Redis, found 1`);
  await onRedis.stop();

  // A log that is not the copy of this one, and one that is.
  await refused(['copy', first, redis.url], `${redis.url}: expected an empty place for the copy`);
  await refused(['copy', redis.url, first], `${first}: expected an empty place for the copy`);
  expect(await runLogCommand(['copy', first, other.url])).toMatchObject({ code: 0 });
  await refused(['copy', first, other.url], `${first}: this log was copied to ${other.url}`);
  await refused(['copy', redis.url, first], `${first}: this log was copied to ${other.url}`);
  await refused(['reopen', first], '"log reopen --force"');
  await refused(['reopen', other.url], 'gateways can use this log already');

  // Both refused places are as they were.
  await (await startGatewayOn({ REDIS_URL: redis.url })).stop();
  expect(await runLogCommand(['reopen', first, '--force'])).toMatchObject({ code: 0 });
  await (await startGatewayOn({ DATA_DIR: first })).stop();
});

test('a copy that is given up leaves its source to gateways, and the unfinished copy to none', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const folder = await newFolder();
  const [first, second] = [folder.path('first'), folder.path('second')];
  await storeLog(first);
  await killCopy({ redis, folder: first, to: 'redis' }, EARLY);
  expect(await runLogCommand(['reopen', first])).toMatchObject({ code: 0 });
  await expect(startGatewayOn({ REDIS_URL: redis.url })).rejects.toThrow('this log is an unfinished copy of');

  // The source has grown by the time that it is copied after all.
  const gateway = await startGatewayOn({ DATA_DIR: first });
  const path = await deliveryPathOf(gateway.url);
  await store(gateway.url, path, 1);
  await gateway.stop();
  const content = contentOf(first);
  expect(await runLogCommand(['copy', first, redis.url])).toMatchObject({ code: 0 });
  expect(await runLogCommand(['copy', redis.url, second])).toMatchObject({ code: 0 });
  expect(contentOf(second)).toEqual(content);
});

test('a copy that broke when all was copied begins anew, and one of two copies of the same log is completed', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const folder = await newFolder();
  const first = folder.path('first');
  await storeLog(first, FEW);
  expect(await runLogCommand(['copy', first, redis.url])).toMatchObject({ code: 0 });
  // As the copy was before its last steps: the source says that it is complete, and it is still closed.
  const fence = () => {
    using database = openFile(first);
    return String(database.prepare('SELECT fence FROM log').get()?.fence);
  };
  const [, copy = ''] = fence().split(' ');
  await redis.run('APPEND', 'gateway:seed', `target ${copy} ${first}`);
  await redis.run('HSET', 'gateway:{t1}:state', 'fenced', '1');
  await expect(startGatewayOn({ REDIS_URL: redis.url })).rejects.toThrow('this log is an unfinished copy of');
  // What only the unfinished copy has is not part of the log.
  await redis.run('COPY', 'gateway:{t1}:stream', 'gateway:{stray}:stream');
  await redis.run('COPY', 'gateway:{t1}:state', 'gateway:{stray}:state');
  expect(await runLogCommand(['copy', first, redis.url])).toMatchObject({ code: 0 });
  expect(await redis.run('XLEN', 'gateway:{stray}:stream')).toBe(0);
  expect(await redis.run('HGET', 'gateway:{t1}:state', 'fenced')).toBeNull();
  await (await startGatewayOn({ REDIS_URL: redis.url })).stop();

  const targets = ['one', 'other'].map((name) => folder.path(name));
  const both = await Promise.all(targets.map((target) => runLogCommand(['copy', redis.url, target])));
  expect(both.map(({ code }) => code).toSorted()).toEqual([0, 1]);
  const [broken] = both.filter(({ code }) => code === 1);
  expect(broken?.stderr).toMatch(/has changed this log meanwhile|this log was copied to/);
  const opens = targets.map(async (target) => (await startGatewayOn({ DATA_DIR: target })).stop());
  const statuses = (await Promise.allSettled(opens)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('a log that is reopened by force keeps its deliveries, and every cursor from before expires', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const folder = await newFolder();
  for (const place of [{ DATA_DIR: folder.path('data') }, { REDIS_URL: redis.url }]) {
    const [variable = ''] = Object.keys(place);
    const gateway = await startGatewayOn(place);
    const path = await deliveryPathOf(gateway.url);
    for (const number of [1, 2]) await store(gateway.url, path, number);
    const cursors = (await readLog(gateway.url, '')).map(({ cursor }) => cursor);
    await gateway.stop();
    expect(await runLogCommand(['reopen', variable], place)).toMatchObject({ code: 1 });
    expect(await runLogCommand(['reopen', variable, '--force'], place)).toMatchObject({ code: 0 });
    const again = await startGatewayOn(place);
    expect(await everythingStored(again.url)).toEqual([1, 2]);
    await using late = subscribe(again.url, { after: cursors[0] ?? '' });
    await late.ended;
    expect(late.faults).toMatchObject([{ extensions: { code: 'CURSOR_EXPIRED', reason: 'foreign' } }]);
    await using present = subscribe(again.url, { after: await headOf(again.url) });
    await store(again.url, path, 3);
    await eventually(() => present.edges.length === 1);
    await again.stop();
  }
});

test('a target with another secret is refused as it is', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const folder = await newFolder();
  const first = folder.path('first');
  await (await startGatewayOn({ DATA_DIR: first })).stop();
  await (await startGatewayOn({ REDIS_URL: redis.url })).stop();
  expect(await runLogCommand(['copy', first, redis.url])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`expected no delivery secret or that of ${first}, found another one`),
  });
  await (await startGatewayOn({ REDIS_URL: redis.url })).stop();
  await (await startGatewayOn({ DATA_DIR: first })).stop();
  await redis.run('DEL', 'gateway:secret');
  expect(await runLogCommand(['copy', first, redis.url])).toMatchObject({ code: 0 });
  expect(await redis.run('GET', 'gateway:secret')).toBe(
    (await readFile(join(first, 'delivery-secret'), 'utf8')).trim(),
  );
});

test('a gateway that a copy did not see can write to neither side', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const forwarder = await startForwarder(redis);
  const folder = await newFolder();
  const second = folder.path('second');
  const gateway = await startGatewayOn({ REDIS_URL: forwarder.url });
  const path = await deliveryPathOf(gateway.url);
  await store(gateway.url, path, 1);
  // Cut off, it is not among those that hear of deliveries; later it is back.
  forwarder.cut();
  expect(await runLogCommand(['copy', redis.url, second])).toMatchObject({ code: 0 });
  forwarder.lead(redis);
  await vi.waitFor(async () => {
    const ready = await fetch(`${gateway.url}/health/ready`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('was copied to')]);
  }, 60_000);
  expect(await post(gateway.url, path, 2)).toBe(503);
  const deliveries = contentOf(second).deliveries;
  expect(deliveries).toHaveLength(1);
});

test('a backup of a running gateway is restored with its secrets; a subscriber with an older cursor is told, and reads again', async () => {
  const folder = await newFolder();
  const [data, file, elsewhere] = [folder.path('data'), folder.path('backup'), folder.path('elsewhere')];
  const env = { DATA_DIR: data };
  await using gateway = await spawnGateway({ ...DELIVERIES_ONLY, ...env });
  const path = await deliveryPathOf(gateway.url);
  const head = await headOf(gateway.url);
  let isSending = true;
  const acknowledged: number[] = [];
  const send = async () => {
    for (let number = 0; isSending; number += 1)
      if ((await post(gateway.url, path, number)) === 200) acknowledged.push(number);
  };
  const sender = send();
  await eventually(() => acknowledged.length > 50);
  const before = acknowledged.length;
  const backedUp = await runLogCommand(['backup', file], env);
  expect(backedUp).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^Backed up .* MB\.\n$/),
  });
  const after = acknowledged.length;
  await eventually(() => acknowledged.length > after + 20);
  isSending = false;
  await sender;
  const cursors = (await readLog(gateway.url, head)).map(({ cursor }) => cursor);
  // Nothing is overwritten, and nobody else can read it.
  expect(await runLogCommand(['backup', file], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('move it away'),
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await runLogCommand(['restore', file], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('in use'),
  });
  await gateway.end('SIGKILL');
  expect(await runLogCommand(['restore', file], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('move it away'),
  });

  const restored = await runLogCommand(['restore', file], { DATA_DIR: elsewhere });
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  const again = await startGatewayOn({ DATA_DIR: elsewhere });
  expect(await deliveryPathOf(again.url)).toBe(path);
  const stored = await everythingStored(again.url);
  expect(stored.length).toBeGreaterThanOrEqual(before);
  expect(stored.length).toBeLessThan(acknowledged.length);
  expect(stored).toEqual(acknowledged.slice(0, stored.length));
  // Whether the backup has the cursor's delivery or not: what came after it may be lost.
  for (const cursor of [head, cursors[0], cursors.at(-1)]) {
    await using subscriber = subscribe(again.url, { after: cursor ?? '' });
    await subscriber.ended;
    expect(subscriber.faults).toMatchObject([{ extensions: { code: 'CURSOR_EXPIRED', reason: 'foreign' } }]);
  }
  // It is a log like any other: repeats are duplicates, and it goes on.
  await store(again.url, path, 0);
  await store(again.url, path, 1_000_000);
  expect(await everythingStored(again.url)).toEqual([...stored, 1_000_000]);
});

test('what is no backup is not restored, and Redis is backed up in its own ways', async () => {
  const folder = await newFolder();
  const [data, file] = [folder.path('data'), folder.path('other')];
  await writeFile(file, 'no backup at all, but long enough to be taken for something');
  const env = { DATA_DIR: data };
  const refused = async (args: readonly string[], env: Record<string, string>, message: string) => {
    const { code, stderr } = await runLogCommand(args, env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).not.toContain('\n    at ');
  };
  await refused(['restore', file], env, 'file is not a database');
  await refused(['restore', folder.path('none')], env, 'ENOENT');
  await storeLog(folder.path('log'), FEW);
  await refused(
    ['restore', folder.path('log/deliveries.db')],
    env,
    'expected a file that "log backup" has made',
  );
  expect(await readdir(data)).toEqual(['deliveries.lock']);
  await refused(['backup', folder.path('backup')], env, 'unable to open database file');
  await refused(
    ['backup', folder.path('backup')],
    { REDIS_URL: 'redis://127.0.0.1:9' },
    'in the ways of Redis',
  );
  expect(await readdir(folder.path('.'))).toEqual(['data', 'log', 'other']);
});

test("one tenant's deliveries are exported as JSON lines while gateways run, and deleted", async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const folder = await newFolder();
  const data = folder.path('data');
  for (const place of [{ DATA_DIR: data }, { REDIS_URL: redis.url }]) {
    const gateway = await startGatewayOn(place);
    const path = await deliveryPathOf(gateway.url);
    const head = await headOf(gateway.url);
    const bodies = ['{"n": 12345678901234567890.50}', '[{"text":"line\\nbreak é"}]'];
    for (const body of bodies)
      await deliverUntilStored(gateway.url + path, {
        body,
        webhookId: WEBHOOK,
        type: 'activities',
        chainId: 8453,
      });

    const exported = await runLogCommand(['export', 'default'], place);
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Exported 2 deliveries of /) });
    const lines = exported.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      {
        ...{
          tenant: 'default',
          sequence: 1,
          webhookId: WEBHOOK,
          type: 'activities',
          chainId: 8453,
          attempt: 0,
        },
        ...{
          receivedAt: expect.stringMatching(/Z$/),
          dispatchedAt: '2026-01-02T03:04:05.678Z',
          addresses: [],
        },
        body: bodies[0],
      },
      { sequence: 2, body: bodies[1] },
    ]);
    expect(await runLogCommand(['export', 'nobody'], place)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('expected a tenant that has had deliveries, got nobody'),
    });

    // A gateway on a folder holds it in memory as well; one on Redis holds nothing.
    const inFolder = 'DATA_DIR' in place;
    if (inFolder) {
      expect(await runLogCommand(['delete', 'default'], place)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the delivery log is in use by another process'),
      });
      await gateway.stop();
    }
    expect(await runLogCommand(['delete', 'default'], place)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Deleted 2 deliveries of /),
    });
    if (inFolder)
      for (const name of await readdir(data))
        expect((await readFile(join(data, name))).includes('12345678901234567890')).toBe(false);
    const after = inFolder ? await startGatewayOn(place) : gateway;
    await using subscriber = subscribe(after.url, { after: head });
    await subscriber.ended;
    expect(subscriber.faults).toMatchObject([{ extensions: { code: 'CURSOR_EXPIRED', reason: 'trimmed' } }]);
    // What is delivered again is stored again, under a number of its own.
    await deliverUntilStored(after.url + path, { body: bodies[0] });
    expect((await runLogCommand(['export', 'default'], place)).stdout).toMatch(/^.*"sequence":3,.*\n$/);
    await after.stop();
  }
});

test('the deletion of one tenant leaves all others as they are', async () => {
  const folder = await newFolder();
  const data = folder.path('data');
  await storeLog(data, FEW);
  const before = contentOf(data);
  expect(await runLogCommand(['delete', 't5', data])).toMatchObject({ code: 0 });
  const after = contentOf(data);
  expect(after.deliveries).toEqual(before.deliveries.filter(({ name }) => name !== 't5'));
  expect(after.tenants.filter(({ name }) => name !== 't5')).toEqual(
    before.tenants.filter(({ name }) => name !== 't5'),
  );
  const [deleted] = after.tenants.filter(({ name }) => name === 't5');
  expect(deleted).toMatchObject({ head: FEW, floor: FEW });
  // A tenant is written as in its delivery URL.
  const encoded = encodeURIComponent('a {b}:c/ä');
  expect(await runLogCommand(['export', encoded, data])).toMatchObject({ code: 0, stdout: '' });
});
