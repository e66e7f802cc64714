import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { root } from '../pages.ts';

/**
 * Builds the program of a package for the tests of a run that start the gateway as a process, see `PROGRAM`. The folder is
 * not the checkout's dist/: a test makes that anew.
 */

let folder: string | undefined;

export const setup = async (): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-program-'));
  const dist = join(folder, 'dist');
  await promisify(execFile)(process.execPath, ['scripts/package/build.ts', '--to', dist], { cwd: root });
  // The program reads its version there.
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'));
  process.env.BUILT_PROGRAM = join(dist, 'main.js');
};

export const teardown = async (): Promise<void> => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
};
