import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { folderOf } from '../../support/folder.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { heldKey, nowhere } from '../../support/gateway/start.ts';

/** What the gateway writes to DATA_DIR is for its own user alone. */

const run = promisify(execFile);

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

/** The mode of each file of a folder. */
const modesIn = async (folder: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(
      (await readdir(folder)).toSorted().map(async (name) => [name, await modeOf(join(folder, name))]),
    ),
  );

const PRIVATE = {
  'deliveries.db': '600',
  'deliveries.db-shm': '600',
  'deliveries.db-wal': '600',
  'deliveries.lock': '600',
  'deliveries.lock-journal': '600',
  'delivery-secret': '600',
};

/** Starts the gateway as it is shipped, by a user whose files everyone may read, and stores a delivery. */
const startIn = async (dataDir: string) => {
  const before = process.umask(0o022);
  try {
    const env = { UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: heldKey, AUTH: 'open' };
    const gateway = await spawnGateway({ ...env, DATA_DIR: dataDir });
    const { deliveryUrl } = await deliveriesOf(gateway.url);
    expect(await deliver(deliveryUrl, { body: {} })).toBe(200);
    return gateway;
  } finally {
    process.umask(before);
  }
};

/** The permissions of a folder that its group shares. */
const SHARED = 0o2775;

const warningsOf = (lines: readonly string[]): object[] =>
  lines.filter((line) => line.includes('DATA_DIR')).map((line) => JSON.parse(line));

test('nobody else can read its files, nor those of a copy once the gateway has started in it', async () => {
  await using folder = await folderOf({});
  const [data, copy] = [folder.path('data'), folder.path('copy')];
  const first = await startIn(data);
  expect(await modesIn(data)).toEqual(PRIVATE);
  expect(await modeOf(data)).toBe('700');
  expect(warningsOf(first.lines)).toEqual([]);
  await first.end('SIGTERM');

  await run('sh', ['-c', 'umask 022 && cp -r "$0" "$1" && chmod -R go+r "$1"', data, copy]);
  expect(await modesIn(copy)).toMatchObject({ 'deliveries.db': '644', 'delivery-secret': '644' });
  const second = await startIn(copy);
  expect(await modesIn(copy)).toEqual(PRIVATE);
  expect(await modeOf(copy)).toBe('700');
  expect(warningsOf(second.lines)).toEqual([
    expect.objectContaining({
      closed: ['deliveries.db', 'deliveries.lock', 'delivery-secret', '.'],
      stillOpen: [],
    }),
  ]);
  await second.end('SIGTERM');
});

test('a folder that others use as well stays as it is, and so do their files', async () => {
  await using folder = await folderOf({});
  const data = folder.path('data');
  await mkdir(data);
  await chmod(data, 0o755);
  await writeFile(join(data, 'deliveries.dbx'), '', { mode: 0o644 });
  await writeFile(join(data, 'notes'), '', { mode: 0o644 });
  await using gateway = await startIn(data);
  expect(await modesIn(data)).toEqual({ ...PRIVATE, 'deliveries.dbx': '644', notes: '644' });
  expect(await modeOf(data)).toBe('755');
  expect(warningsOf(gateway.lines)).toEqual([]);
});

test('a folder that was empty, or whose files are in order, keeps its own permissions', async () => {
  await using folder = await folderOf({});
  const data = folder.path('data');
  await mkdir(data);
  await chmod(data, SHARED);
  for (let start = 0; start < 2; start += 1) {
    const gateway = await startIn(data);
    expect(await modesIn(data)).toEqual(PRIVATE);
    expect((await stat(data)).mode & 0o7777).toBe(SHARED);
    expect(warningsOf(gateway.lines)).toEqual([]);
    await gateway.end('SIGTERM');
  }
});

test('a file that goes while the gateway looks is no problem', async () => {
  await using folder = await folderOf({});
  const data = folder.path('data');
  await mkdir(data, { mode: 0o700 });
  // As a file that has gone, this link is listed and can't be looked at.
  await symlink('gone', join(data, 'deliveries.db.bak'));
  await using gateway = await startIn(data);
  expect(warningsOf(gateway.lines)).toEqual([]);
});
