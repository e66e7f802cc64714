import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { need } from '../support/available.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { everythingStored } from '../support/gateway/on-redis.ts';
import { PROGRAM, spawnGateway } from '../support/gateway/spawn.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

/** The shipped process on failing disks, and its disk writes before it answers that a delivery is stored. */

const ENV = { UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: 'unused', AUTH: 'open' };
const MB = 1024 * 1024;

const temporary = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-disk-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const canTrace = () => spawnSync('strace', ['-f', '-D', '-e', 'trace=fdatasync', 'true']).status === 0;

/** Large, so that a few of them fill the `-wal` file. */
const large = (number: number) => ({ ...activity(number), filler: 'x'.repeat(64 * 1024) });

test('the bytes of a delivery are synced to the disk before its 2xx is written', async (context) => {
  need(context, canTrace(), 'strace');
  const directory = await temporary();
  const trace = join(directory, 'trace');
  const under = ['strace', '-D', '-f', '-y', '-s', '48', '-o', trace];
  const calls = ['-e', 'trace=read,write,writev,pwrite64,fsync,fdatasync'];
  await using gateway = await spawnGateway({ ...ENV, DATA_DIR: join(directory, 'data') }, PROGRAM, [
    ...under,
    ...calls,
  ]);
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  expect(await deliver(url, { body: activity(1) })).toBe(200);
  for (let number = 2; number <= 11; number += 1)
    expect(await deliver(url, { body: activity(number) })).toBe(200);
  // Enough for the reader's thread to copy pages of the `-wal` file meanwhile.
  for (let number = 12; number <= 100; number += 1)
    expect(await deliver(url, { body: large(number) })).toBe(200);
  await gateway.end('SIGTERM');
  // The tracer may write the end of its file after the process has ended.
  await expect.poll(() => readFile(trace, 'utf8')).toMatch(/\+\+\+ exited with 0 \+\+\+\n$/);

  const lines = (await readFile(trace, 'utf8')).split('\n');
  const taken = lines.flatMap((line, at) => (line.includes('"POST /deliveries/') ? [at] : []));
  expect(taken).toHaveLength(100);
  const threadsThatWrite = (file: string) =>
    new Set(
      lines.flatMap((line) =>
        line.includes(`/${file}>,`) && /^\d+ +pwrite64/.test(line) ? [line.split(' ')[0]] : [],
      ),
    );
  const [writer, ...others] = threadsThatWrite('deliveries.db-wal');
  expect(others).toEqual([]);
  expect([...threadsThatWrite('deliveries.db')].filter((thread) => thread !== writer)).toHaveLength(1);
  for (const [index, at] of taken.entries()) {
    const until = taken[index + 1] ?? lines.length;
    const during = lines.slice(at, until);
    const answered = during.findIndex((line) => /write.*"HTTP\/1\.1 200 OK/.test(line));
    const ofWriter = (line: string) => line.startsWith(`${writer} `);
    const synced = during.findIndex((line) => ofWriter(line) && /(fsync|fdatasync).*= 0$/.test(line));
    const isOfWal = (line: string) => /(fsync|fdatasync)\(\d+<[^>]*deliveries\.db-wal>/.test(line);
    expect(during.some((line) => ofWriter(line) && isOfWal(line))).toBe(true);
    expect(answered).toBeGreaterThan(0);
    expect(synced).toBeGreaterThan(0);
    expect(synced).toBeLessThan(answered);
  }
});

test('a full disk gives 503 until space is free again, and loses no delivery that was answered', async (context) => {
  const disk = await mountSmallDisk(12 * MB);
  if (disk === null) return context.skip('needs the right to mount a small disk');
  await using gateway = await spawnGateway({ ...ENV, DATA_DIR: join(disk, 'data') });
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  const answered: number[] = [];
  let number = 0;
  const post = async () => {
    number += 1;
    const status = await deliver(url, { body: activity(number) });
    if (status === 200) answered.push(number);
    return status;
  };
  expect(await post()).toBe(200);

  const ballast = join(disk, 'ballast');
  await fill(ballast);
  let status = await post();
  while (status === 200) status = await post();
  expect(status).toBe(503);
  expect(await post()).toBe(503);
  // The stored deliveries can be read, and the gateway is alive.
  expect(await everythingStored(gateway.url)).toEqual(expect.arrayContaining(answered));
  expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);

  await rm(ballast);
  await expect.poll(post).toBe(200);
  // One log line when the failure began and one when it ended, however many deliveries were refused.
  const logged = gateway.lines.filter((line) => /delivery log: (unavailable|appends)/.test(line));
  expect(logged.map((line) => JSON.parse(line).level)).toEqual(['error', 'info']);
  await gateway.end('SIGKILL');
  await using again = await spawnGateway({ ...ENV, DATA_DIR: join(disk, 'data') });
  const stored = await everythingStored(again.url);
  expect(answered.filter((one) => !stored.includes(one))).toEqual([]);
  expect(new Set(stored).size).toBe(stored.length);
});

test('a log whose file can not grow says so, stores in what its -wal file has left, and recovers', async (context) => {
  const disk = await mountSmallDisk(60 * MB);
  if (disk === null) return context.skip('needs the right to mount a small disk');
  await using gateway = await spawnGateway({ ...ENV, DATA_DIR: join(disk, 'data') });
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  const file = join(disk, 'data/deliveries.db');
  let stored = 0;
  const post = async () => {
    expect(await deliver(url, { body: large(stored + 1) })).toBe(200);
    stored += 1;
  };
  // As a backup does, this keeps the `-wal` file from beginning anew: so there is room in it once it has.
  await post();
  const backup = new DatabaseSync(file, { readOnly: true });
  backup.exec('BEGIN; SELECT * FROM tenant');
  while (stored < 200) await post();
  backup.close();
  for (let size = -1; size < (await stat(`${file}-wal`)).size; ) {
    size = (await stat(`${file}-wal`)).size;
    for (let count = 0; count < 20; count += 1) await post();
  }
  const ballast = join(disk, 'ballast');
  await fill(ballast);
  const lines = () =>
    gateway.lines.filter((line) => /delivery log: /.test(line)).map((line) => JSON.parse(line));
  while (lines().length === 0) await post();
  expect(lines()).toMatchObject([
    { level: 'error', task: 'checkpoint', error: expect.stringMatching(/full/) },
  ]);
  expect(await everythingStored(gateway.url)).toHaveLength(stored);

  await rm(ballast);
  while (lines().length === 1) await post();
  expect(lines()[1]).toMatchObject({ level: 'info', msg: 'delivery log: checkpoints recovered' });
  await gateway.end('SIGKILL');
  await using again = await spawnGateway({ ...ENV, DATA_DIR: join(disk, 'data') });
  expect(await everythingStored(again.url)).toEqual(Array.from({ length: stored }, (_, index) => index + 1));
});

/** The calls by which pages are copied into the log's file, and those by which the copy becomes durable. */
const STEPS = [
  ['pwrite64', 1],
  ['pwrite64', 300],
  ['fsync,fdatasync', 1],
  ['fsync,fdatasync', 2],
] as const;

test.for(STEPS)(
  'a kill at %s %i of the log’s file loses no delivery that was answered',
  async ([call, nth], context) => {
    need(context, canTrace(), 'strace');
    const directory = await temporary();
    const dataDir = join(directory, 'data');
    const file = join(dataDir, 'deliveries.db');
    const inject = `inject=${call}:signal=SIGKILL:when=${nth}`;
    const under = ['strace', '-D', '-f', '-o', '/dev/null', '-P', file, '-e', `trace=${call}`, '-e', inject];
    // The file exists, so that the tracer knows it.
    await (await spawnGateway({ ...ENV, DATA_DIR: dataDir })).end('SIGTERM');
    const answered: number[] = [];
    {
      await using gateway = await spawnGateway({ ...ENV, DATA_DIR: dataDir }, PROGRAM, under);
      const { deliveryUrl: url } = await deliveriesOf(gateway.url);
      let number = 0;
      const sender = async () => {
        while (number < 1000) {
          number += 1;
          const own = number;
          if ((await deliver(url, { body: large(own) })) !== 200) return;
          answered.push(own);
        }
      };
      await Promise.all(Array.from({ length: 8 }, sender));
      expect(await gateway.end('SIGTERM')).toBe(null);
    }
    await using again = await spawnGateway({ ...ENV, DATA_DIR: dataDir });
    const stored = await everythingStored(again.url);
    expect(answered.length).toBeGreaterThan(40);
    expect(answered.filter((one) => !stored.includes(one))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
  },
);

/** Writes until the disk is full. */
const fill = async (path: string): Promise<void> => {
  const file = await open(path, 'w');
  try {
    for (const size of [64 * 1024, 4096, 1]) {
      while (await file.write(Buffer.alloc(size, 1)).then(({ bytesWritten }) => bytesWritten === size, no));
    }
  } finally {
    await file.close().catch(no);
  }
};

const no = () => false;

test('a read-only directory is named at start', async (context) => {
  const disk = await mountSmallDisk(12 * MB);
  if (disk === null) return context.skip('needs the right to mount a small disk');
  {
    await using gateway = await startGateway({ ...ENV, DATA_DIR: disk });
    expect(await deliver((await deliveriesOf(gateway.url)).deliveryUrl, { body: activity(1) })).toBe(200);
  }
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  await expect(startGateway({ ...ENV, DATA_DIR: disk })).rejects.toThrow(/DATA_DIR: /);
  execFileSync('mount', ['-o', 'remount,rw', disk]);
  await using gateway = await startGateway({ ...ENV, DATA_DIR: disk });
  expect(await everythingStored(gateway.url)).toEqual([1]);
});

test('a damaged log is named at start, and left unchanged', async () => {
  const directory = await temporary();
  {
    await using gateway = await startGateway({ ...ENV, DATA_DIR: directory });
    const { deliveryUrl: url } = await deliveriesOf(gateway.url);
    for (let number = 0; number < 50; number += 1) await deliver(url, { body: activity(number) });
  }
  const path = join(directory, 'deliveries.db');
  const bytes = await readFile(path);
  bytes.fill(0xa5, bytes.length - 3 * 4096, bytes.length - 2 * 4096);
  await writeFile(path, bytes);
  await expect(startGateway({ ...ENV, DATA_DIR: directory })).rejects.toThrow(
    /DATA_DIR: .*deliveries\.db: .*damaged/,
  );
  expect((await readFile(path)).equals(bytes)).toBe(true);
});
