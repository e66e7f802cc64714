import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('the bytes of a delivery are synced to the disk before its 2xx is written', async (context) => {
  const canTrace = spawnSync('strace', ['-f', '-D', '-e', 'trace=fdatasync', 'true']).status === 0;
  need(context, canTrace, 'strace');
  const directory = await temporary();
  const trace = join(directory, 'trace');
  const under = ['strace', '-D', '-f', '-y', '-s', '48', '-o', trace];
  const calls = ['-e', 'trace=read,write,writev,fsync,fdatasync'];
  await using gateway = await spawnGateway({ ...ENV, DATA_DIR: join(directory, 'data') }, PROGRAM, [
    ...under,
    ...calls,
  ]);
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  expect(await deliver(url, { body: activity(1) })).toBe(200);
  for (let number = 2; number < 12; number += 1)
    expect(await deliver(url, { body: activity(number) })).toBe(200);
  await gateway.end('SIGTERM');
  // The tracer may write the end of its file after the process has ended.
  await expect.poll(() => readFile(trace, 'utf8')).toMatch(/\+\+\+ exited with 0 \+\+\+\n$/);

  const lines = (await readFile(trace, 'utf8')).split('\n');
  const taken = lines.flatMap((line, at) => (line.includes('"POST /deliveries/') ? [at] : []));
  expect(taken).toHaveLength(11);
  for (const [index, at] of taken.entries()) {
    const until = taken[index + 1] ?? lines.length;
    const during = lines.slice(at, until);
    const answered = during.findIndex((line) => /write.*"HTTP\/1\.1 200 OK/.test(line));
    const synced = during.findIndex((line) => /(fsync|fdatasync).*= 0$/.test(line));
    expect(during.some((line) => /(fsync|fdatasync)\(\d+<[^>]*deliveries\.db-wal>/.test(line))).toBe(true);
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
