import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LogOpenError, LogUnavailableError } from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import {
  appendNumbers,
  delivery,
  numberOf,
  openLog,
  range,
  readAll,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';
import { changeFile, openFile, storeMany } from '../support/stored.ts';

const expiry = (reason: string) => expect.objectContaining({ name: 'CursorExpiredError', reason });

test('a log restored from an older copy refuses cursors that are ahead of it', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  const [, , ahead] = await appendNumbers(log, [1, 2, 3]);
  await log.close();
  changeFile(dataDir, 'DELETE FROM delivery WHERE sequence > 2; UPDATE tenant SET head = 2');

  const restored = await openLog({ dataDir });
  await expect(restored.read(TENANT, { after: ahead, limit: 1 })).rejects.toEqual(expiry('ahead'));
});

test('a failed append stores nothing, and the log stores again once it can', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  await appendNumbers(log, [1]);
  // Another program that has the file's write lock simulates a disk that refuses writes.
  const intruder = openFile(dataDir);
  intruder.exec('BEGIN IMMEDIATE');
  await expect(appendNumbers(log, [2])).rejects.toThrow(LogUnavailableError);
  intruder.exec('ROLLBACK');
  intruder.close();

  await appendNumbers(log, [3]);
  expect((await readAll(log)).map(({ sequence, body }) => [sequence, numberOf({ body })])).toEqual([
    [1, 1],
    [2, 3],
  ]);
});

test('refuses a directory that is in use, is a file or has no log, and names it', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  await expect(openLog({ dataDir })).rejects.toThrow(/deliveries\.lock: .*in use by another process/);
  await log.close();

  const file = join(dataDir, 'file');
  await writeFile(file, '');
  await expect(openLog({ dataDir: file })).rejects.toThrow(LogOpenError);
  await expect(openLog({ dataDir: join(file, 'below') })).rejects.toThrow(file);

  const corrupt = join(dataDir, 'corrupt');
  await mkdir(corrupt);
  await writeFile(join(corrupt, 'deliveries.db'), 'x'.repeat(5000));
  await expect(openLog({ dataDir: corrupt })).rejects.toThrow(/deliveries\.db: file is not a database/);
  // A failed attempt leaves no lock.
  await expect(openLog({ dataDir: corrupt })).rejects.toThrow(/not a database/);
});

test('names a directory that is not writable', async () => {
  const dataDir = await temporaryDirectory();
  await chmod(dataDir, 0o555);
  // Root may write anywhere, so a child process switches to another user.
  const script = `
    const { openSqliteLog } = await import('${import.meta.resolve('../../../src/deliveries/sqlite/log.ts')}');
    if (process.getuid() === 0) process.setgroups([]), process.setgid(65534), process.setuid(65534);
    const opening = openSqliteLog({ dataDir: ${JSON.stringify(dataDir)}, retentionHours: 1, retentionCount: 1 });
    process.stdout.write(await opening.then(() => 'opened', ({ name, message }) => name + ' ' + message));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toMatch(new RegExp(`^LogOpenError ${dataDir}: EACCES: permission denied`));
});

test('refuses a log that lacks deliveries of its sequence', async () => {
  const dataDir = await temporaryDirectory();
  await appendAndClose(await openLog({ dataDir }), range(1, 5));
  changeFile(dataDir, 'DELETE FROM delivery WHERE sequence = 3');
  await expect(openLog({ dataDir })).rejects.toThrow(/damaged \(of default it should hold 1 to 5, found 4/);
});

test.each([
  [2, 'expected a log in format 3 to 5, got format 2, which has no upgrade: move the file away'],
  [99, 'expected a log in format 5 or earlier, got format 99: a later version of the gateway has written it'],
])('refuses a log in format %i, says what to do, and leaves it unchanged', async (format, said) => {
  const dataDir = await temporaryDirectory();
  await (await openLog({ dataDir })).close();
  changeFile(dataDir, `PRAGMA user_version = ${format}`);
  const path = join(dataDir, 'deliveries.db');
  const before = await readFile(path);
  await expect(openLog({ dataDir })).rejects.toThrow(`${path}: ${said}`);
  expect(await readFile(path)).toEqual(before);
});

test('upgrades a log in format 3: its cursors and deliveries stay, and the next start finds the new format', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  const [first] = await appendNumbers(log, [1, 2]);
  await log.close();
  changeFile(
    dataDir,
    'ALTER TABLE log DROP COLUMN fence; DROP TABLE epoch; DROP TABLE stored; PRAGMA user_version = 3',
  );
  const upgraded = await openLog({ dataDir });
  await appendNumbers(upgraded, [2, 3]);
  expect((await readAll(upgraded, first)).map(numberOf)).toEqual([2, 3]);
  await upgraded.close();
  using database = openFile(dataDir);
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 5 });
});

test('upgrades a log in format 4: what was stored is found by its repeat, and its body of another chain is new', async () => {
  const dataDir = await temporaryDirectory();
  // Those of t1 are in the index of identities, those of t2 are not yet.
  storeMany(dataDir, { tenants: 2, each: 100, receivedAt: 1_000_000 }).close();
  changeFile(
    dataDir,
    `CREATE TABLE former (
       tenant INTEGER NOT NULL, identity BLOB NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (tenant, identity)
     ) STRICT, WITHOUT ROWID;
     INSERT INTO former SELECT tenant, identity, sequence FROM identity WHERE tenant = 1;
     UPDATE tenant SET identified = 0 WHERE id = 2;
     DROP TABLE identity; ALTER TABLE former RENAME TO identity; PRAGMA user_version = 4`,
  );
  const log = await openLog({ dataDir });
  for (const tenant of ['t1', 't2']) {
    const sent = { tenant, webhookId: null };
    const repeats = range(1, 100).map((number) => delivery(number, { ...sent, chainId: (number % 8) + 1 }));
    expect((await log.append(repeats)).map(({ sequence, duplicate }) => duplicate && sequence)).toEqual(
      range(1, 100),
    );
    expect(await log.append([delivery(7, { ...sent, chainId: 8453 })])).toMatchObject([
      { sequence: 101, duplicate: false },
    ]);
  }
  await log.close();
  using database = openFile(dataDir);
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 5 });
});

test('creates the directory, and leaves two files in it', async () => {
  const dataDir = join(await temporaryDirectory(), 'a', 'b');
  await appendAndClose(await openLog({ dataDir }), [1]);
  expect((await readdir(dataDir)).sort()).toEqual(['deliveries.db', 'deliveries.lock']);
});

const appendAndClose = async (log: DeliveryLog, numbers: readonly number[]): Promise<void> => {
  await appendNumbers(log, numbers);
  await log.close();
};
