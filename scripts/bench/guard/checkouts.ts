import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { spawnGateway } from '../../../test/support/gateway/spawn.ts';
import { removeFolder } from '../../../test/support/redis/server.ts';
import { type Pin, type Server, startServer } from '../lookups/subjects.ts';

/** Where the two that are compared come from, and how their gateways start. */

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A checkout starts its gateway as it does in its own tests, with its own flags. */
export const startGateway = async (root: string, upstreamUrl: string, pin: Pin): Promise<Server> => {
  const own: { readonly spawnGateway: typeof spawnGateway } = await import(
    pathToFileURL(join(root, 'test/support/gateway/spawn.ts')).href
  );
  const launch = { title: root, entry: 'src/main.ts', env: { CACHE_MAX_MB: '64' } };
  return startServer('gateway', launch, upstreamUrl, pin, own.spawnGateway);
};

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

export const titleOf = (commit: string): string => git('log', '-1', '--format=%h %s', commit);

/** What this working tree changes something of: its commit, what its branch began at, or the commit before on main itself. */
export const baseOf = (): string => {
  if (git('status', '--porcelain') !== '') return git('rev-parse', 'HEAD');
  const base = git('merge-base', 'HEAD', 'main');
  return base === git('rev-parse', 'HEAD') ? git('rev-parse', 'HEAD^') : base;
};

/** Writes the files of a commit into a folder, which goes with `made`. It shares what is installed here, where it needs the same. */
export const checkOut = async (commit: string, made: AsyncDisposableStack): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-guard-'));
  made.defer(() => removeFolder(folder));
  const input = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input });
  const [own, other] = await Promise.all(
    [ROOT, folder].map((root) => readFile(join(root, 'package-lock.json'), 'utf8')),
  );
  if (own === other) await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 2, 2] });
  return folder;
};
