import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPathOf } from '../../../src/app/startup.ts';
import { type App, type AppOptions, startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createLog } from '../../../src/lib/log.ts';
import { clientOf } from '../clients/graphql-client.ts';
import { PATIENT_TIMES } from '../redis/patience.ts';
import { openLogInSharedThreads } from './log-threads.ts';
import { forgetMemoryLog, openMemoryLog } from './memory-log.ts';

export type GraphQLFault = {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; status?: number; retryAfterMs?: number };
};

export type Upstream = {
  requests: number;
  computeUnits: number;
  cached: number;
  budget?: { left: number; perMinute: number };
};

export type GraphQLReply<Data = unknown> = {
  data: Data | null | undefined;
  errors: GraphQLFault[] | undefined;
  extensions: { upstream: Upstream };
  status: number;
  headers: Headers;
  /** The whole body as it came, to be searched for what must not be in it. */
  body: string;
};

export type Variables = Record<string, unknown>;

/** The key that the gateway holds in tests: never to be seen by a client or in a log. */
export const heldKey = 'held-by-the-gateway-4c1f9a';

/** A service that is not there (nothing listens on the discard port): for what must be answered without one. */
export const nowhere = 'http://127.0.0.1:9';

/** On a busy machine a gateway that fetches a page may also be late to renew its lease. */
const TIMES = { redis: PATIENT_TIMES, shared: { ...PATIENT_TIMES, leaseMs: 60_000 } };

/**
 * A gateway of its own on a free port of 127.0.0.1. Its data folder goes when it goes, and its delivery log is in memory; with
 * DATA_DIR, the log is in SQLite. `env` is laid over these defaults; an undefined value unsets one. It is patient with Redis
 * unless `times` says otherwise.
 */
export const startGateway = async (
  env: Record<string, string | undefined> = {},
  options: AppOptions = {},
) => {
  // Everything is removed again, even if the gateway does not start.
  await using made = new AsyncDisposableStack();
  const dataDir = env.DATA_DIR ?? (await mkdtemp(join(tmpdir(), 'gateway-test-')));
  if (env.DATA_DIR === undefined)
    made.defer(async () => {
      forgetMemoryLog(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    });
  const logLines: string[] = [];
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDir,
    UPSTREAM_API_KEY: env.UPSTREAM_URL ? heldKey : undefined,
    LOG_LEVEL: 'debug',
    ...env,
  });
  // Let go of once it has stopped: the variables of test files live as long as their process.
  let app: App | null = await startApp(
    config,
    createLog('debug', (line) => {
      logLines.push(line);
    }),
    {
      readPath: readPathOf(process.env.READ_PATH),
      // A test that counts requests does not expect one for it.
      readsChains: false,
      openLog: env.DATA_DIR === undefined ? openMemoryLog : openLogInSharedThreads,
      ...options,
      times: { ...TIMES, ...options.times },
    },
  );
  const { url } = app;

  const stop = async () => {
    const running = app;
    app = null;
    await running?.stop();
  };

  made.defer(stop);
  const running = made.move();

  return {
    url,
    dataDir,
    logLines,
    ...clientOf(url),
    checkKey: async () => app?.checkKey(),
    reload: async () => app?.reload(),
    stop,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** The codes of an answer's errors, in order. */
export const codesOf = ({ errors }: Pick<GraphQLReply, 'errors'>) =>
  (errors ?? []).map(({ extensions }) => extensions.code);
