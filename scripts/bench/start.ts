import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import {
  setup as buildProgram,
  teardown as removeProgram,
} from '../../test/support/gateway/build-program.ts';
import { spawnGateway, spawnProgram } from '../../test/support/gateway/spawn.ts';
import { root } from '../../test/support/pages.ts';
import { decimals, median, print, tableOf, whole } from '../harness/figures.ts';
import { cpuMsOf, memoryOf } from '../harness/processes.ts';

/** A server of Node's that does nothing else. */
const BARE = `
  const server = require('node:http').createServer((_request, response) => response.end('{"data":{}}'));
  server.listen(0, '127.0.0.1', () =>
    console.error(JSON.stringify({ msg: 'listening', url: 'http://127.0.0.1:' + server.address().port })));
`;

/** CPU and time from the start to the first answer, and the memory of the process IDLE_MS later. */
type Start = { readonly cpuMs: number; readonly ms: number; readonly idleMib: number };

const IDLE_MS = 5_000;

const measureStart = async (start: () => ReturnType<typeof spawnProgram>): Promise<Start> => {
  const began = performance.now();
  await using server = await start();
  await server.query('{ __typename }');
  const [ms, pid] = [performance.now() - began, server.child.pid ?? 0];
  const cpuMs = cpuMsOf(pid);
  await sleep(IDLE_MS);
  const { mib: idleMib } = memoryOf(pid);
  // Node writes what it has compiled when it ends by itself.
  await server.end('SIGTERM');
  return { cpuMs, ms, idleMib };
};

/**
 * What it takes to start the gateway, and to answer `{ __typename }` once: as a package by its program, and from source, in
 * turns in one run with a bare server of Node's. CPU is that of all threads, and of what the program runs before it becomes
 * the gateway. Idle is five seconds later.
 */
export const measureStarts = async (args: readonly string[]): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: 'string', default: '7' } } });
  const rounds = Number(values.rounds);
  if (!(rounds > 0)) throw new Error(`--rounds: expected a number above 0, got ${values.rounds}`);
  await using made = new AsyncDisposableStack();
  made.defer(removeProgram);
  await buildProgram();
  const home = dirname(dirname(process.env.BUILT_PROGRAM ?? ''));
  await cp(join(root, 'bin'), join(home, 'bin'), { recursive: true });
  await symlink(join(root, 'node_modules'), join(home, 'node_modules'));
  const folder = await mkdtemp(join(tmpdir(), 'bench-start-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  // A service that is not there is all that a start needs.
  const service = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'unused', DATA_DIR: folder };
  const sandbox = { SANDBOX_BLOCK_MS: '3600000', DATA_DIR: folder };
  const program = async (env: Record<string, string>) =>
    spawnProgram([join(home, 'bin/evm-graphql-gateway')], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: String(await freePort()), ...env },
    });
  const subjects: readonly (readonly [name: string, start: () => ReturnType<typeof spawnProgram>])[] = [
    ['a bare server of Node’s', () => spawnProgram([process.execPath, '-e', BARE], { cwd: root })],
    ['the packaged program', () => program(service)],
    [
      'the same, which has compiled before',
      () => program({ ...service, NODE_COMPILE_CACHE: join(folder, 'compiled') }),
    ],
    ['the same, over its sandbox', () => program(sandbox)],
    ['npm start', () => spawnGateway(service, 'src/main.ts')],
  ];
  const starts = subjects.map(([name, start]) => ({ name, start, measured: [] as Start[] }));
  // The first round only fills the caches.
  for (let round = -1; round < rounds; round += 1)
    for (const { start, measured } of starts) {
      const one = await measureStart(start);
      if (round >= 0) measured.push(one);
    }
  print(
    tableOf([
      ['started and asked once', 'CPU ms', 'ms', 'MiB when idle'],
      ...starts.map(({ name, measured }) => [
        name,
        whole(median(measured.map(({ cpuMs }) => cpuMs))),
        whole(median(measured.map(({ ms }) => ms))),
        decimals(median(measured.map(({ idleMib }) => idleMib)), 1),
      ]),
    ]),
  );
};
