import { chown, copyFile, open as openPath, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';
import { LogTransferError } from '../log/copy.ts';
import { LogOpenError } from '../log/errors.ts';
import { describeFence } from '../log/fence.ts';
import { checkIntegrity, fenceOf, lockDirectory, openBeside } from './database.ts';
import { checkFormat, upgrade } from './format.ts';

/** What a backup has beside the log, by name: the secrets that make delivery URLs and cursors. */
type Kept = Readonly<Record<string, string | null>>;

/**
 * Writes a backup of the log in a folder to a new file, together with `kept`, while a gateway may use the log. The backup is
 * the log of one moment. Rejects with LogOpenError, and then leaves no file.
 */
export const backUp = async (
  dataDir: string,
  file: string,
  kept: Kept,
): Promise<{ readonly bytes: number }> => {
  await expectNone(file);
  const part = `${file}.part`;
  await rm(part, { force: true });
  try {
    const database = openBeside(join(dataDir, 'deliveries.db'));
    try {
      checkFormat(database);
      const fence = fenceOf(database);
      if (fence !== null) throw new Error(describeFence(fence));
      // The gateway goes on meanwhile: this reads the log as of now. The pragma is for the file that it writes.
      database.exec('PRAGMA auto_vacuum = INCREMENTAL');
      database.prepare('VACUUM INTO ?').run(part);
    } finally {
      database.close();
    }
    const written = openBeside(part);
    try {
      checkIntegrity(written, part);
      written.exec('CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT) STRICT');
      const keep = written.prepare('INSERT INTO kept VALUES (?, ?)');
      for (const [name, value] of Object.entries(kept)) keep.run(name, value);
    } finally {
      written.close();
    }
    await sync(part);
    await rename(part, file);
    await sync(dirname(file));
    return { bytes: (await stat(file)).size };
  } catch (error) {
    await rm(part, { force: true });
    throw error instanceof LogOpenError ? error : new LogOpenError(dataDir, messageOf(error), error);
  }
};

/**
 * Makes a log of a backup in a folder that has none. `keep` puts what was kept beside it. What was stored after the backup is
 * lost, so the log has a seed of its own: all cursors from before expire, also those of deliveries that the backup has. Rejects
 * with LogOpenError.
 */
export const restore = async (
  file: string,
  dataDir: string,
  keep: (kept: Kept) => Promise<void>,
): Promise<{ readonly deliveries: number }> => {
  const part = join(dataDir, 'deliveries.db.part');
  try {
    await stat(file);
    await makeFolder(dataDir);
  } catch (error) {
    throw new LogOpenError(file, messageOf(error), error);
  }
  const unlock = lockDirectory(dataDir);
  try {
    await rm(part, { force: true });
    const names = await readdir(dataDir);
    for (const name of names) if (name.startsWith('deliveries.db')) await expectNone(join(dataDir, name));
    await copyFile(file, part);
    const restored = restoreFile(part);
    await keep(restored.kept);
    await sync(part);
    await rename(part, join(dataDir, 'deliveries.db'));
    await sync(dataDir);
    await giveToOwner(dataDir);
    return restored;
  } catch (error) {
    await rm(part, { force: true });
    const isSaid = error instanceof LogOpenError || error instanceof LogTransferError;
    throw isSaid ? error : new LogOpenError(file, messageOf(error), error);
  } finally {
    unlock();
  }
};

const restoreFile = (path: string): { readonly kept: Kept; readonly deliveries: number } => {
  const database = openBeside(path);
  try {
    checkFormat(database);
    checkIntegrity(database, path);
    upgrade(database);
    if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'kept'").get() === undefined)
      throw new Error('expected a file that "log backup" has made, got another log');
    const rows = database.prepare('SELECT name, value FROM kept').all();
    database.exec(
      'UPDATE log SET epoch_seed = randomblob(32), fence = NULL; DELETE FROM epoch; DROP TABLE kept',
    );
    const count = database.prepare('SELECT sum(head - floor) AS count FROM tenant').get()?.count;
    return {
      kept: Object.fromEntries(
        rows.map(({ name, value }) => [String(name), value === null ? null : String(value)]),
      ),
      deliveries: Number(count ?? 0),
    };
  } finally {
    database.close();
  }
};

const expectNone = async (path: string): Promise<void> => {
  if (await stat(path).catch(() => null))
    throw new LogOpenError(path, 'expected no file there, found one: move it away');
};

const sync = async (path: string): Promise<void> => {
  const handle = await openPath(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** A restore by root is for the user whose folder it is. */
const giveToOwner = async (dataDir: string): Promise<void> => {
  const { uid, gid } = await stat(dataDir);
  for (const name of await readdir(dataDir))
    if (name.startsWith('deliver')) await chown(join(dataDir, name), uid, gid);
};
