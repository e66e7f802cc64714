import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../pages.ts';

const run = promisify(execFile);

/** npm's own variables describe the run of this test, but for where its packages are. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_/i.test(name) || /^npm_config_(?:cache|registry)$/i.test(name),
    ),
  ),
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_prefer_offline: 'true',
};

/** npm as a newcomer runs it. It takes what it can from its cache. */
export const npm = (args: readonly string[], cwd: string) => run('npm', args, { cwd, env });

/** The folder of a test, which goes with it. Everyone may read it. */
const newFolder = async (): Promise<AsyncDisposable & { readonly path: string }> => {
  const path = await mkdtemp(join(tmpdir(), 'gateway-package-'));
  await chmod(path, 0o755);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};

/** Makes the package in a folder of its own, and resolves to its path. */
const pack = async (made: AsyncDisposableStack): Promise<string> => {
  const { path } = made.use(await newFolder());
  await npm(['pack', '--pack-destination', path], root);
  const [tarball = ''] = await readdir(path);
  return join(path, tarball);
};

/** The package of `npm pack`, installed in an empty folder. */
export const installPackage = async () => {
  await using made = new AsyncDisposableStack();
  const { path: folder } = made.use(await newFolder());
  const tarball = await pack(made);
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await npm(['install', tarball], folder);
  const kept = made.move();
  return {
    folder,
    tarball,
    /** What npm links the package's program to. */
    program: join(folder, 'node_modules/.bin/evm-graphql-gateway'),
    /** Where the package itself is. */
    home: join(folder, 'node_modules/evm-graphql-gateway'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

export type InstalledPackage = Awaited<ReturnType<typeof installPackage>>;

/**
 * Unpacks an installed package into a folder, and has npm say what the command of docs/deploying.md would install there.
 * Those dependencies are linked: npm has installed them for the package by the same npm-shrinkwrap.json.
 */
export const unpackPackage = async ({ tarball, folder }: InstalledPackage) => {
  await using made = new AsyncDisposableStack();
  const { path } = made.use(await newFolder());
  await run('tar', ['-xzf', tarball, '-C', path, '--strip-components=1']);
  const { stdout } = await npm(['--prefix', path, 'ci', '--omit=dev', '--dry-run'], path);
  const wouldInstall = new Map(
    [...stdout.matchAll(/^add (\S+) (\S+)$/gm)].map(([, name = '', version = '']) => [name, version]),
  );
  await mkdir(join(path, 'node_modules'));
  for (const name of wouldInstall.keys())
    await symlink(join(folder, 'node_modules', name), join(path, 'node_modules', name));
  const kept = made.move();
  return { path, wouldInstall, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
