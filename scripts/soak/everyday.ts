import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { bearer, byToken, tokenOf } from '../../test/support/gateway/tokens.ts';
import { removeFolder } from '../../test/support/redis/server.ts';
import { sum } from '../harness/figures.ts';
import { watchMemory } from './memory.ts';
import { repeat, type Tally } from './repeat.ts';
import { mistakesOfDeliveries } from './report.ts';
import { type Checked, startTenant } from './tenants.ts';
import { type Target, TRUSTED, USES } from './uses.ts';
import { Waits } from './waits.ts';

const CLIENTS_PER_USE = 2;
const PAUSE_MS = 20;
const RESTARTS_EVERY_MS = 45_000;
/** Caches are full within minutes, of pages and of events: what grows after that is something else. */
const CACHE_MAX_MB = '64';
const RUSH = 20_000;
/** Garbage is collected soon where the heap is small: the memory of a process is what is in use, and little else. */
const NODE_OPTIONS = '--max-old-space-size=160';
const LOG_LINES_KEPT = 100;

/** By the fifth minute caches are full and code is compiled. */
const SETTLED_MINUTE = 4;
/** Garbage is collected every few minutes: the lowest of five minutes is what is in use. */
const WINDOW = 5;
/** Before this minute, caches that still fill up look like a leak. */
const JUDGED_FROM_MINUTE = 20;
const MOST_GROWTH = 1.15;
/** Answers while the service is down, of all turns of a use. */
const MOST_FAILED = 0.2;

export type Everyday = {
  /** Of each use, how its turns have ended. */
  readonly outcomes: Readonly<Record<string, Readonly<Tally>>>;
  /** Of each gateway, the median of each minute in MB. */
  readonly memory: Readonly<Record<string, readonly number[]>>;
  readonly restarts: number;
  /** What became of the posted deliveries. */
  readonly deliveries: Checked;
  readonly traceRequests: number;
  readonly exitCodes: readonly (number | null)[];
};

/** The sandbox as a service of its own. Until the signal aborts, it is killed again and again, and started at the same port. */
const startRestartingService = async (everyMs: number, signal: AbortSignal) => {
  const env = { PORT: String(await freePort()), SANDBOX_BLOCK_MS: '500' };
  const start = () => spawnGateway(env, 'src/backend/sandbox/main.ts');
  let running = await start();
  const restarts = repeat(
    async () => {
      await pause(everyMs, undefined, { signal });
      await running.end('SIGKILL');
      running = await start();
      return 'restarted';
    },
    { pauseMs: 0, signal },
  );
  return {
    url: running.url,
    restarts: () => restarts.tally.restarted ?? 0,
    async [Symbol.asyncDispose]() {
      await restarts.ended;
      await running.end('SIGKILL');
    },
  };
};

/** Starts a receiver of traces, which counts requests and keeps nothing of them. */
const startCollector = async (made: AsyncDisposableStack) => {
  const collector = { url: `http://127.0.0.1:${await freePort()}`, requests: 0 };
  const server = createServer((request, response) => {
    collector.requests += 1;
    request.resume().on('end', () => response.end());
  }).listen(Number(new URL(collector.url).port), '127.0.0.1');
  made.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return collector;
};

/** What a run has done so far. */
type SoFar = Pick<Everyday, 'outcomes' | 'restarts' | 'traceRequests'>;

type Options = {
  /** At most, with `until`. */
  readonly seconds: number;
  /** Ends the run as soon as it returns true. It is asked often. */
  readonly until?: (soFar: SoFar) => boolean;
  /** How long the service runs until it is killed. */
  readonly restartsEveryMs?: number;
  /** How many deliveries are posted first, one right after the other. */
  readonly rush?: number;
  /** From the end of a client's turn to the beginning of its next one. */
  readonly pauseMs?: number;
  readonly onProgress?: (line: string) => void;
};

/**
 * Two shipped gateways with everything on, in everyday use: lookups, parts that arrive late, revalidated answers, events,
 * changes of webhooks, traces. Their service is killed and started again meanwhile.
 */
export const everyday = async (options: Options): Promise<Everyday> => {
  const { seconds, restartsEveryMs = RESTARTS_EVERY_MS, onProgress = () => {} } = options;
  const { rush = RUSH, pauseMs = PAUSE_MS, until } = options;
  await using made = new AsyncDisposableStack();
  const over = new AbortController();
  const { signal } = over;
  const folder = await mkdtemp(join(tmpdir(), 'gateway-everyday-'));
  made.defer(() => removeFolder(folder));
  const documents = join(folder, 'documents.json');
  await writeFile(documents, JSON.stringify(TRUSTED));
  const service = made.use(await startRestartingService(restartsEveryMs, signal));
  made.defer(() => over.abort());
  const collector = await startCollector(made);
  const start = async (name: string, env: Record<string, string>) => {
    const gateway = made.use(
      await spawnGateway({
        ...{ UPSTREAM_URL: service.url, UPSTREAM_API_KEY: 'sandbox', ...byToken, CACHE_MAX_MB, NODE_OPTIONS },
        DATA_DIR: join(folder, name),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        ...env,
      }),
    );
    return { name, gateway, memory: watchMemory(gateway.child.pid ?? 0, signal) };
  };
  const any = await start('any', {});
  const trusted = await start('trusted', { TRUSTED_DOCUMENTS: documents });
  const gateways = [any, trusted];
  const credentials = bearer(await tokenOf({ sub: 'user', tenant: 'user' }));
  const target: Target = { url: any.gateway.url, trustedUrl: trusted.gateway.url, credentials };
  // The user's webhooks deliver to the user. These dashboards get what is posted here, and nothing else.
  const waits = new Waits();
  const dashboard = made.use(await startTenant(target.url, 'dashboard', { waits, signal, rush }));
  const clients = Object.entries(USES).map(([name, use]) => ({
    name,
    ...repeat((turn) => use(target, turn), { atOnce: CLIENTS_PER_USE, pauseMs, signal }),
  }));

  const soFar = (): SoFar => ({
    outcomes: Object.fromEntries(clients.map(({ name, tally }) => [name, tally])),
    restarts: service.restarts(),
    traceRequests: collector.requests,
  });
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end && !until?.(soFar())) {
    await pause(Math.min(until ? 100 : 10_000, Math.max(100, end - Date.now())));
    for (const { gateway } of gateways) {
      gateway.lines.splice(0, Math.max(0, gateway.lines.length - LOG_LINES_KEPT));
      gateway.output.text = '';
    }
    const now = gateways.map(({ name, memory }) => `${name} ${Math.round(memory.lastMb())} MB`);
    onProgress(`${Math.max(0, Math.round((end - Date.now()) / 1000))} s to go, ${now.join(', ')}`);
  }
  over.abort();
  await Promise.all([...clients.map(({ ended }) => ended), dashboard.ended]);
  const deliveries = await dashboard.check();
  dashboard[Symbol.dispose]();
  return {
    ...soFar(),
    memory: Object.fromEntries(gateways.map(({ name, memory }) => [name, memory.minutes()])),
    deliveries,
    exitCodes: await Promise.all(gateways.map(({ gateway }) => gateway.end('SIGTERM'))),
  };
};

/** The faults that an everyday soak has found. */
export const problemsOf = ({ outcomes, memory, deliveries, exitCodes }: Everyday): string[] => [
  ...Object.entries(memory).flatMap(([name, minutes]) => {
    if (minutes.length < JUDGED_FROM_MINUTE) return [];
    const settled = Math.min(...minutes.slice(SETTLED_MINUTE, SETTLED_MINUTE + WINDOW));
    const last = Math.min(...minutes.slice(-WINDOW));
    return last > settled * MOST_GROWTH
      ? [`${name}: the memory grew from ${settled} MB in minutes 5 to 9 to ${last} MB in the last five`]
      : [];
  }),
  ...Object.entries(outcomes).flatMap(([use, counts]) => {
    const turns = sum(Object.values(counts));
    const failed = turns - (counts.ok ?? 0);
    if (turns === 0) return [`${use}: no turn has ended`];
    return failed > turns * MOST_FAILED
      ? [`${use}: ${failed} of ${turns} turns failed: ${JSON.stringify(counts)}`]
      : [];
  }),
  ...(deliveries.acknowledged === 0 ? ['no delivery was acknowledged'] : []),
  ...mistakesOfDeliveries([deliveries]),
  ...(exitCodes.some((code) => code !== 0)
    ? [`the gateways ended with ${exitCodes.map(String).join(' and ')}`]
    : []),
];

/** The gateways whose memory can't be judged yet. */
export const tooEarlyOf = ({ memory }: Everyday): string[] =>
  Object.entries(memory)
    .filter(([, { length }]) => length < JUDGED_FROM_MINUTE)
    .map(
      ([name, { length }]) =>
        `${name}: it is too early to judge memory, after ${length} of ${JUDGED_FROM_MINUTE} minutes`,
    );

/** The report as lines of text. */
export const formatEveryday = (report: Everyday): string => {
  const { outcomes, memory, restarts, deliveries, traceRequests } = report;
  return [
    'Median memory of each minute, in MB:',
    ...Object.entries(memory).map(([name, minutes]) => `  ${name.padEnd(10)}${minutes.join(' ')}`),
    'How turns have ended:',
    ...Object.entries(outcomes).map(([use, counts]) => `  ${use.padEnd(10)}${JSON.stringify(counts)}`),
    `${deliveries.acknowledged} deliveries were acknowledged, ${deliveries.lost} lost, and ${deliveries.twice} stored twice.`,
    `The service was killed and started again ${restarts} times. The collector of traces got ${traceRequests} requests.`,
  ].join('\n');
};
