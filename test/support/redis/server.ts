import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { onTestFinished, type TestContext } from 'vitest';
import { need } from '../available.ts';
import { findProgram, REDIS } from '../debian-program.ts';
import { freePort } from '../free-port.ts';

const found = findProgram(REDIS);

/** Skips the test where there is no real redis-server, and says why; in CI it fails. */
export const needRedis = async (context: TestContext): Promise<void> => {
  const program = await found;
  need(context, typeof program !== 'string', `a redis-server (${program})`);
};

type Options = {
  /** Over the settings that lose nothing: `['--appendfsync', 'everysec']`. */
  readonly settings?: readonly string[];
  /** The path of a configuration, in place of the settings that lose nothing. */
  readonly config?: string;
  /** The primary that it replicates. */
  readonly of?: { readonly port: number };
  /** Paths of a certificate of `localhost` and its key: then it takes only TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
};

export type RedisServer = Awaited<ReturnType<typeof launchRedis>>;

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
/** A replica is synced at once. */
const SYNC = ['--repl-diskless-sync-delay', '0'];

/** A redis-server of its own, which goes when the test is finished. */
export const startRedis = async (options: Options = {}) => {
  const server = await launchRedis(options);
  onTestFinished(() => server.stop());
  return server;
};

/** A redis-server on a free port, with a data folder that goes when it is stopped. */
export const launchRedis = async ({ settings = [], config, of, tls }: Options = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'redis-test-'));
  const port = await freePort();
  const args = [
    ...(config === undefined ? DURABLE : [config]),
    ...['--bind', '127.0.0.1', '--dir', folder, ...SYNC],
    ...(tls === undefined ? ['--port', String(port)] : tlsArguments(port, tls)),
    ...(of ? ['--replicaof', '127.0.0.1', String(of.port)] : []),
    ...settings,
  ];
  let child = await startRedisProcess(args);
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  };
  return {
    port,
    url: tls === undefined ? `redis://127.0.0.1:${port}` : `rediss://localhost:${port}`,
    async stop(): Promise<void> {
      await kill('SIGKILL');
      await removeFolder(folder);
    },
    /** Ends the process as a crash does. */
    crash: () => kill('SIGKILL'),
    /** Starts it again on the same port and data. */
    async restart(): Promise<void> {
      await kill('SIGKILL');
      child = await startRedisProcess(args);
    },
    /** Ends it, and starts it again without its data. */
    async empty(): Promise<void> {
      await kill('SIGKILL');
      await removeFolder(join(folder, 'appendonlydir'));
      child = await startRedisProcess(args);
    },
    /** Runs one command over a connection of its own. */
    async run(...command: string[]): Promise<unknown> {
      const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
      try {
        return await client.sendCommand(command);
      } finally {
        client.destroy();
      }
    },
    /** Halts the process, so that it takes connections and answers nothing, until `resume`. */
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
};

/** Removes the folder of a process that was killed. A child that it has forked may still write there for a moment. */
export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

const tlsArguments = (port: number, { cert, key }: NonNullable<Options['tls']>): string[] => [
  ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'],
  ...['--tls-cert-file', cert, '--tls-key-file', key],
];

/** Resolves once it says that it accepts connections. */
export const startRedisProcess = async (
  args: readonly string[],
  ready = 'Ready to accept connections',
): Promise<ChildProcess> => {
  const program = await found;
  if (typeof program === 'string') throw new Error(program);
  const child = spawn(program.path, args, { env: program.env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes(ready)) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server exited with ${code}: ${output}`)));
  });
  return child;
};
