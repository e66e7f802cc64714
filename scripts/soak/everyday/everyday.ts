import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { spawnGateway } from '../../../test/support/gateway/spawn.ts';
import { bearer, byToken, tokenOf } from '../../../test/support/gateway/tokens.ts';
import { type Checked, checkTenant } from '../log-check.ts';
import { watchMemory } from '../memory.ts';
import { startPoster } from '../posters.ts';
import { startReaders } from '../readers.ts';
import { Waits } from '../waits.ts';
import { startCollector } from './collector.ts';
import { startRestartingService } from './service.ts';
import { type Target, TRUSTED, USES } from './uses.ts';

const CLIENTS_PER_USE = 2;
const BETWEEN_MS = 20;
const RESTARTS_EVERY_MS = 45_000;
/** Caches are full within minutes, of pages and of events: what grows after that is something else. */
const CACHE_MAX_MB = '64';
const RUSH = 20_000;
/** Garbage is collected soon where the heap is small: the memory of a process is what is in use, and little else. */
const NODE_OPTIONS = '--max-old-space-size=160';
const LOG_LINES_KEPT = 100;

export type Everyday = {
  /** Of each use, how its turns have ended. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Of each gateway, the median of each minute in MB. */
  readonly memory: Readonly<Record<string, readonly number[]>>;
  readonly restarts: number;
  /** What became of the posted deliveries. */
  readonly deliveries: Checked;
  readonly traceRequests: number;
  readonly exitCodes: readonly (number | null)[];
};

type Options = {
  readonly seconds: number;
  /** How long the service runs until it is killed. */
  readonly restartsEveryMs?: number;
  readonly onProgress?: (line: string) => void;
};

/**
 * Two shipped gateways with everything on, in everyday use: lookups, parts that arrive late, revalidated answers, events,
 * changes of webhooks, traces. Their service is killed and started again meanwhile.
 */
export const everyday = async ({
  seconds,
  restartsEveryMs = RESTARTS_EVERY_MS,
  onProgress = () => {},
}: Options): Promise<Everyday> => {
  await using made = new AsyncDisposableStack();
  const over = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-everyday-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const documents = join(folder, 'documents.json');
  await writeFile(documents, JSON.stringify(TRUSTED));
  const service = made.use(await startRestartingService(restartsEveryMs, over.signal));
  made.defer(() => over.abort());
  const collector = await startCollector(made);
  const start = async (name: string, env: Record<string, string>) => {
    const gateway = made.use(
      await spawnGateway({
        UPSTREAM_URL: service.url,
        UPSTREAM_API_KEY: 'sandbox',
        ...byToken,
        CACHE_MAX_MB,
        NODE_OPTIONS,
        DATA_DIR: join(folder, name),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        ...env,
      }),
    );
    return { name, gateway, memory: watchMemory(gateway.child.pid ?? 0, over.signal) };
  };
  const gateways = [
    await start('any', {}),
    await start('trusted', { TRUSTED_DOCUMENTS: documents }),
  ] as const;
  const [any, trusted] = gateways;
  const user = bearer(await tokenOf({ sub: 'user', tenant: 'user' }));
  const target: Target = { url: any.gateway.url, trustedUrl: trusted.gateway.url, credentials: user };
  const waits = new Waits();
  // The user's webhooks deliver to the user. These readers get what is posted here, and nothing else.
  const token = await tokenOf({ sub: 'dashboard', tenant: 'dashboard' });
  const { deliveryUrl, head } = await deliveriesOf(target.url, bearer(token));
  const readers = startReaders({ url: target.url, token, after: head });
  const poster = startPoster({
    deliveryUrl,
    waits,
    signal: over.signal,
    rush: RUSH,
  });

  const outcomes: Record<string, Record<string, number>> = {};
  const clients = Object.entries(USES).flatMap(([name, use]) => {
    const counts: Record<string, number> = {};
    outcomes[name] = counts;
    return Array.from({ length: CLIENTS_PER_USE }, async (_, client) => {
      for (let turn = client; !over.signal.aborted; turn += CLIENTS_PER_USE) {
        const ended = await use(target, turn).catch((error: unknown) => String(error));
        counts[ended] = (counts[ended] ?? 0) + 1;
        await pause(BETWEEN_MS);
      }
    });
  });

  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    await pause(Math.min(10_000, Math.max(100, end - Date.now())));
    for (const { gateway } of gateways) {
      gateway.lines.splice(0, Math.max(0, gateway.lines.length - LOG_LINES_KEPT));
      gateway.output.text = '';
    }
    const now = gateways.map(({ name, memory }) => `${name} ${Math.round(memory.lastMb())} MB`);
    onProgress(`${Math.max(0, Math.round((end - Date.now()) / 1000))} s to go, ${now.join(', ')}`);
  }
  over.abort();
  await Promise.all([...clients, poster.ended, ...gateways.map(({ memory }) => memory.ended)]);
  const dashboard = { name: 'dashboard', token, start: head, poster, readers };
  const deliveries = await checkTenant(target.url, dashboard, waits);
  for (const { client } of readers) client.stop();
  return {
    outcomes,
    memory: Object.fromEntries(gateways.map(({ name, memory }) => [name, memory.minutes()])),
    restarts: service.restarts(),
    deliveries,
    traceRequests: collector.requests,
    exitCodes: await Promise.all(gateways.map(({ gateway }) => gateway.end('SIGTERM'))),
  };
};
