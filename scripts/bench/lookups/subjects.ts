import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { spawnGateway } from '../../../test/support/gateway/spawn.ts';
import { removeFolder } from '../../../test/support/redis/server.ts';
import { allowedCores } from '../../harness/processes.ts';
import type { Template } from '../load/requests.ts';
import { rawTemplatesOf, templatesOf, type Workload } from './workloads.ts';

/** The servers that are measured, each a process of its own with the Node and the flags of `npm start`. */

const PEERS = fileURLToPath(new URL('../peers', import.meta.url));
const [YOGA, GATEWAY] = ['scripts/bench/peers/yoga.ts', 'src/main.ts'];

type Launch = {
  readonly title: string;
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where upstream is, behind its host. Default: its root. */
  readonly path?: string;
};

/** Of `--peers`, in the order of the report. */
export const PEERS_BY_NAME = {
  raw: { title: 'raw byte proxy', entry: 'scripts/bench/lookups/raw-proxy.ts', env: {} },
  mercurius: { title: 'Mercurius, JIT', entry: 'scripts/bench/peers/mercurius.ts', env: {} },
  'yoga-jit': { title: 'Yoga, graphql-jit', entry: YOGA, env: { JIT: '1' } },
  yoga: { title: 'Yoga', entry: YOGA, env: {} },
} as const satisfies Record<string, Launch>;

export type PeerName = keyof typeof PEERS_BY_NAME;

/** The gateway with its shipped settings. The one that is asked of another wallet each time has less use for a cache. */
export const GATEWAYS = {
  cold: { title: 'this gateway, cold', entry: GATEWAY, env: { CACHE_MAX_MB: '64' } },
  free: {
    title: 'this gateway, cold, of a free service',
    entry: GATEWAY,
    env: { CACHE_MAX_MB: '64' },
    path: '/free',
  },
  hot: { title: 'this gateway', entry: GATEWAY, env: {} },
} as const satisfies Record<string, Launch>;

export const HOT_WALLETS = 128;

export type Server = {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** From the start of the process until it has answered `{ __typename }`, in milliseconds. */
  readonly startMs: number;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** One line of a workload's table: a server, and how it is asked. */
export type Subject = {
  readonly name: string;
  readonly title: string;
  /** Several subjects may share one. */
  readonly server: Server;
  /** Answers bytes that are no GraphQL. */
  readonly isRaw: boolean;
  /** How many wallets it is asked of again and again; null for another one each time. */
  readonly wallets: number | null;
  /** What it is sent; null when the workload is not for it. */
  readonly templates: (workload: Workload) => readonly Template[] | null;
};

/** The command that puts a process onto one core; empty where the machine has no such command, or one core. */
export type Pin = readonly string[];

/** The core of each process. The server that is measured has one for itself; with two cores, the load and upstream share one. */
export const chooseCores = () => {
  const [server, load, upstream = load] = allowedCores();
  const hasTaskset = spawnSync('taskset', ['--version']).status === 0;
  const pin = (core: number | undefined): Pin =>
    hasTaskset && load !== undefined && core !== undefined ? ['taskset', '-c', String(core)] : [];
  const loadHasUpstream = upstream === load;
  return { server: pin(server), load: pin(load), upstream: pin(upstream), loadHasUpstream };
};

/** Starts a server over a static upstream. `spawn` is that of the checkout whose server it is. */
export const startServer = async (
  name: string,
  { entry, env, path = '' }: Launch,
  upstreamUrl: string,
  pin: Pin,
  spawn: typeof spawnGateway = spawnGateway,
): Promise<Server> => {
  await using made = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-lookups-'));
  made.defer(() => removeFolder(dataDir));
  const started = performance.now();
  const settings = {
    UPSTREAM_URL: `${upstreamUrl}${path}`,
    UPSTREAM_API_KEY: 'a-key-that-no-body-of-upstream-holds',
  };
  const { url, child } = made.use(await spawn({ ...settings, DATA_DIR: dataDir, ...env }, entry, pin));
  const response = await fetch(`${url}${name === 'raw' ? '/' : '/graphql'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  const text = await response.text();
  if (!text.includes('"Query"'))
    throw new Error(`Expected ${entry} to answer, got ${response.status}: ${text}`);
  const startMs = performance.now() - started;
  const running = made.move();
  return {
    name,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    startMs,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** Installs what the peers need, unless it was installed by this very lock file. */
const installPeers = (): void => {
  const changedAt = (file: string) => statSync(join(PEERS, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  process.stderr.write(`installing the peers in ${PEERS}\n`);
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS, stdio: ['ignore', 2, 2] });
};

const subjectsOf = (server: Server): readonly Subject[] => {
  const { name } = server;
  const { title } = { ...PEERS_BY_NAME, ...GATEWAYS }[name as PeerName | keyof typeof GATEWAYS];
  const templates = (workload: Workload) =>
    workload.isSocket && name.startsWith('yoga') ? null : templatesOf(workload);
  const plain: Subject = { name, title, server, isRaw: false, wallets: null, templates };
  if (name === 'raw')
    return [
      { ...plain, isRaw: true, templates: (workload) => rawTemplatesOf(workload, 'peer') },
      {
        ...plain,
        name: 'raw-pages',
        title: `${title}, the gateway's pages`,
        isRaw: true,
        templates: (workload) =>
          workload.raw.gateway === undefined ? null : rawTemplatesOf(workload, 'gateway'),
      },
    ];
  // Elsewhere it is asked for the same pages.
  const readsLess = ({ raw, pages }: Workload) => raw.gateway !== undefined || pages > 1;
  if (name === 'free')
    return [{ ...plain, templates: (workload) => (readsLess(workload) ? templatesOf(workload) : null) }];
  if (name !== 'hot') return [plain];
  return [HOT_WALLETS, 1].map((wallets) => ({
    ...plain,
    name: `hot-${wallets}`,
    title: `${title}, ${wallets === 1 ? 'one hot wallet' : `${wallets} hot wallets`}`,
    wallets,
    templates: (workload) => (workload.hot ? templatesOf(workload) : null),
  }));
};

/**
 * Starts the servers in turns, `rounds` times each. Those of the last round stay until `made` is disposed. `starts` has the
 * milliseconds from the start to the first answer, of each time that a server was started.
 */
export const startSubjects = async (
  peers: readonly PeerName[],
  rounds: number,
  upstreamUrl: string,
  pin: Pin,
  made: AsyncDisposableStack,
) => {
  if (peers.some((name) => name !== 'raw')) installPeers();
  const launches = [
    ...peers.map((name) => [name, PEERS_BY_NAME[name]] as const),
    ...Object.entries(GATEWAYS),
  ];
  const starts: Record<string, number[]> = {};
  const subjects: Subject[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, launch] of launches) {
      const server = await startServer(name, launch, upstreamUrl, pin);
      starts[name] = [...(starts[name] ?? []), server.startMs];
      if (round === rounds) subjects.push(...subjectsOf(made.use(server)));
      else await server[Symbol.asyncDispose]();
    }
  }
  return { subjects, starts };
};
