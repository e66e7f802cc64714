import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
const FOLDER = join(CACHE, 'redis-server');

/** Debian's packages of the server, and the libraries that a machine may lack. */
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1', 'libhiredis0.14'];

export type RedisProgram = { readonly path: string; readonly env: Record<string, string | undefined> };

/**
 * Finds a real redis-server: one that is installed, else Debian's package, unpacked once into node_modules/.cache. Resolves
 * with why there is none otherwise.
 */
export const findRedis = async (): Promise<RedisProgram | string> => {
  const installed = await run('redis-server', ['--version']).catch(() => null);
  if (installed !== null) return { path: 'redis-server', env: { PATH: process.env.PATH } };
  const unpacked = await unpackedIn(FOLDER);
  if (unpacked !== null) return unpacked;
  try {
    await unpack();
  } catch (error) {
    return `redis-server is not installed, and can't be unpacked from Debian's package: ${String(error)}`;
  }
  return (await unpackedIn(FOLDER)) ?? 'the unpacked redis-server does not run';
};

/** Test files run at the same time: each unpacks into a folder of its own, and the first one is kept. */
const unpack = async (): Promise<void> => {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'redis-server-'));
  try {
    await run('apt-get', ['download', '-qq', ...PACKAGES], { cwd: folder });
    for (const name of await readdir(folder)) {
      if (name.endsWith('.deb')) await run('dpkg', ['-x', join(folder, name), folder]);
    }
    await rename(folder, FOLDER).catch(() => access(FOLDER));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const unpackedIn = async (folder: string): Promise<RedisProgram | null> => {
  const path = join(folder, 'usr/bin/redis-server');
  const libraries = await readdir(join(folder, 'usr/lib')).catch(() => []);
  const env = {
    PATH: process.env.PATH,
    LD_LIBRARY_PATH: libraries.map((name) => join(folder, 'usr/lib', name)).join(':'),
  };
  return run(path, ['--version'], { env }).then(
    () => ({ path, env }),
    () => null,
  );
};
