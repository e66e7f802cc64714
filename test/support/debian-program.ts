import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

export type Program = { readonly path: string; readonly env: Record<string, string | undefined> };

type Wanted = {
  readonly name: string;
  /** Where its package has it. */
  readonly path: string;
  /** The option with which it prints its version. */
  readonly version: string;
  /** Debian's packages of the program, and the libraries that a machine may lack. */
  readonly packages: readonly string[];
};

export const REDIS: Wanted = {
  name: 'redis-server',
  path: 'usr/bin/redis-server',
  version: '--version',
  packages: ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1', 'libhiredis0.14'],
};

export const HAPROXY: Wanted = {
  name: 'haproxy',
  path: 'usr/sbin/haproxy',
  version: '-v',
  packages: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
};

export const NGINX: Wanted = {
  name: 'nginx',
  path: 'usr/sbin/nginx',
  version: '-v',
  packages: ['nginx', 'nginx-common'],
};

/** Its package has promtool as well. */
export const PROMETHEUS: Wanted = {
  name: 'prometheus',
  path: 'usr/bin/prometheus',
  version: '--version',
  packages: ['prometheus'],
};

export const JQ: Wanted = {
  name: 'jq',
  path: 'usr/bin/jq',
  version: '--version',
  packages: ['jq', 'libjq1', 'libonig5'],
};

/**
 * Finds the real program: one that is installed, else Debian's package, unpacked once into node_modules/.cache. Resolves
 * with the reason if it can't be had.
 */
export const findProgram = async (wanted: Wanted): Promise<Program | string> => {
  const { name, version } = wanted;
  const env = { PATH: `${process.env.PATH}:/usr/sbin` };
  const installed = await run(name, [version], { env }).catch(() => null);
  if (installed !== null) return { path: name, env };
  const folder = join(CACHE, name);
  const unpacked = await unpackedIn(folder, wanted);
  if (unpacked !== null) return unpacked;
  try {
    await unpack(folder, wanted);
  } catch (error) {
    return `${name} is not installed, and can't be unpacked from Debian's package: ${String(error)}`;
  }
  return (await unpackedIn(folder, wanted)) ?? `the unpacked ${name} does not run`;
};

/** Test files run at the same time: each unpacks into a folder of its own, and the first one is kept. */
const unpack = async (kept: string, { name, packages }: Wanted): Promise<void> => {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, `${name}-`));
  try {
    await run('apt-get', ['download', '-qq', ...packages], { cwd: folder });
    for (const file of await readdir(folder)) {
      if (file.endsWith('.deb')) await run('dpkg', ['-x', join(folder, file), folder]);
    }
    await rename(folder, kept).catch(() => access(kept));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const unpackedIn = async (folder: string, { path, version }: Wanted): Promise<Program | null> => {
  const program = join(folder, path);
  const libraries = await readdir(join(folder, 'usr/lib')).catch(() => []);
  const env = {
    PATH: process.env.PATH,
    LD_LIBRARY_PATH: libraries.map((name) => join(folder, 'usr/lib', name)).join(':'),
  };
  return run(program, [version], { env }).then(
    () => ({ path: program, env }),
    () => null,
  );
};
