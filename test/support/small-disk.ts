import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Mounts a small disk, which goes when the test is finished; null if this process may not mount one. */
export const mountSmallDisk = async (bytes: number): Promise<string | null> => {
  const directory = await mkdtemp(join(tmpdir(), 'small-disk-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', directory]);
  if (status !== 0) return null;
  onTestFinished(() => void spawnSync('umount', ['-l', directory]));
  return directory;
};
