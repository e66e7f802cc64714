import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import process from 'node:process';

const SHARED = '/dev/shm';
const NEEDED_BYTES = 4 * 1024 ** 3;

/** Whether the system has a folder in memory, with room, from which programs may run. Containers often have one of 64 MB. */
const hasMemoryFolder = (): boolean => {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8');
    const [, options = 'noexec'] = new RegExp(`^\\S+ ${SHARED} tmpfs (\\S+)`, 'm').exec(mounts) ?? [];
    const { bavail, bsize } = statfsSync(SHARED);
    return !options.split(',').includes('noexec') && bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
};

/**
 * Has this process and those that it starts keep their temporary files in memory where that is possible. Logs and Redis
 * wait for the disk at each delivery. The files go when this process ends.
 */
export const keepTemporaryFilesInMemory = (): void => {
  if (process.env.TMPDIR !== undefined || !hasMemoryFolder()) return;
  const folder = mkdtempSync(`${SHARED}/gateway-tests-`);
  // Some tests run programs as another user.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  // A program that a test has killed may still write there for a moment.
  process.once('exit', () =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  );
};
