import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LogOpenError, messageOf } from '../log/errors.ts';

const SQLITE_BUSY = 5;

/**
 * Makes this process the directory's only one, until `release` or its end, however it ends: the lock is the operating
 * system's, on a database of its own that stays empty. Throws LogOpenError.
 */
export const lockDirectory = (directory: string): (() => void) => {
  const path = join(directory, 'deliveries.lock');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(path, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    const held = lock;
    return () => held.close();
  } catch (error) {
    lock?.close();
    const busy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    const problem = busy ? 'the delivery log is in use by another process' : messageOf(error);
    throw new LogOpenError(path, problem, error);
  }
};
