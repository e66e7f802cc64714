import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { spawnGateway } from '../../../test/support/gateway/spawn.ts';
import type { Pin } from './cores.ts';

/** The servers that are measured, each a process of its own, with the same Node and the same flags. */

type Launch = { readonly entry: string; readonly env: Readonly<Record<string, string>> };

const KEY = 'a-key-that-no-body-of-upstream-holds';
const PEERS = fileURLToPath(new URL('../peers', import.meta.url));

/** Of `--peers`, in the order of the report. */
export const PEERS_BY_NAME = {
  raw: { title: 'raw byte proxy', entry: 'scripts/bench/lookups/raw-proxy.ts', env: {} },
  mercurius: { title: 'Mercurius, JIT', entry: 'scripts/bench/peers/mercurius.ts', env: {} },
  'yoga-jit': {
    title: 'Yoga + Pothos, graphql-jit',
    entry: 'scripts/bench/peers/yoga.ts',
    env: { JIT: '1' },
  },
  yoga: { title: 'Yoga + Pothos', entry: 'scripts/bench/peers/yoga.ts', env: {} },
} as const;

export type PeerName = keyof typeof PEERS_BY_NAME;

/** The memory for pages of the gateway that is asked of another wallet each time, in MB. */
const COLD_CACHE_MB = 64;

/** The gateway with its shipped settings. The one that is asked of other wallets each time has less use for a cache. */
export const GATEWAYS = {
  cold: { entry: 'src/main.ts', env: { CACHE_MAX_MB: String(COLD_CACHE_MB) } },
  hot: { entry: 'src/main.ts', env: {} },
} as const;

export type Server = {
  readonly port: number;
  readonly pid: number;
  /** From the start of the process until it has answered `{ __typename }`, in milliseconds. */
  readonly startMs: number;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export const startServer = async (launch: Launch, upstreamUrl: string, pin: Pin): Promise<Server> => {
  await using made = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-lookups-'));
  made.defer(() => rm(dataDir, { recursive: true, force: true }));
  const started = performance.now();
  const env = { UPSTREAM_URL: upstreamUrl, UPSTREAM_API_KEY: KEY, DATA_DIR: dataDir, ...launch.env };
  const { url, child } = made.use(await spawnGateway(env, launch.entry, pin));
  await assertAnswers(url, launch.entry);
  const startMs = performance.now() - started;
  const running = made.move();
  return {
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    startMs,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const assertAnswers = async (url: string, entry: string): Promise<void> => {
  const isRaw = entry === PEERS_BY_NAME.raw.entry;
  const response = await fetch(`${url}${isRaw ? '/' : '/graphql'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  const text = await response.text();
  if (!text.includes('"Query"'))
    throw new Error(`Expected ${entry} to answer, got ${response.status}: ${text}`);
};

/** Installs what the peers need, unless it was installed by this very lock file. */
export const installPeers = (): void => {
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  process.stderr.write(`installing the peers in ${PEERS}\n`);
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS, stdio: ['ignore', 2, 2] });
};

/** 0 for a file that is not there. */
const changedAt = (file: string): number =>
  statSync(join(PEERS, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
