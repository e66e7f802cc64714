import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { deliveriesOf } from '../../test/support/clients/deliver.ts';
import { scrape } from '../../test/support/gateway/prometheus.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { byToken, tokenOf } from '../../test/support/gateway/tokens.ts';
import { ask } from './ask.ts';
import type { Order, Tallies } from './attackers.ts';
import { checkTenant } from './log-check.ts';
import { readTurns, recordTurns, sharedClockMs } from './loop.ts';
import { watchMemory } from './memory.ts';
import { startPagers } from './pagers.ts';
import { startPoster } from './posters.ts';
import { startReaders } from './readers.ts';
import type { Report } from './report.ts';
import type { Served } from './service.ts';
import { Waits } from './waits.ts';

const TENANTS = ['one', 'two', 'three', 'four'];
const TAIL_BYTES = 4000;
/** For the first walk to come to its end, and the first deliveries to be acknowledged. */
const GRACE_MS = 120_000;
const PROBE_MS = 250;

export type SoakOptions = {
  readonly seconds: number;
  /** Names of attacks; null: all. */
  readonly only?: readonly string[] | null;
  readonly onProgress?: (line: string) => void;
};

/** A process of the soak, which leads a process group. It ends when it is disconnected. */
const start = (made: DisposableStack, program: string): ChildProcess => {
  const child = fork(new URL(program, import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  made.defer(() => child.connected && child.disconnect());
  return child;
};

const answerOf = async <Answer>(child: ChildProcess): Promise<Answer> => {
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the soak has ended early, with ${code}`);
  });
  const [answer] = await Promise.race([once(child, 'message'), exited]);
  return answer as Answer;
};

/** A tenant with a poster and four readers. */
const startTenant = async (url: string, name: string, waits: Waits, over: AbortSignal) => {
  const token = await tokenOf({ sub: name, tenant: name });
  const { deliveryUrl, head } = await deliveriesOf(url, { authorization: `Bearer ${token}` });
  const readers = startReaders({ url, token, after: head });
  const poster = startPoster({ deliveryUrl, waits, signal: over });
  return { name, token, start: head, readers, poster };
};

/** Asks again and again whether the gateway lives, or is ready. */
const probe = async (url: string, path: string, waits: Waits, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await waits
      .measure(path, ask({ url: url + path, method: 'GET' }))
      .then(({ status }) => status === 200 || waits.refuse(path, String(status)))
      .catch((error: unknown) => waits.refuse(path, String(error)));
    await pause(PROBE_MS);
  }
};

/**
 * The shipped gateway with AUTH=jwt and NODE_ENV=production, under all attacks at once, while honest clients page,
 * subscribe and post. Everything is on loopback, and gone when it resolves.
 */
export const soak = async ({ seconds, only = null, onProgress = () => {} }: SoakOptions): Promise<Report> => {
  using made = new DisposableStack();
  await using folders = new AsyncDisposableStack();
  const service = start(made, 'service.ts');
  const serviceUrl = await answerOf<string>(service);
  const folder = await mkdtemp(join(tmpdir(), 'gateway-soak-'));
  folders.defer(() => rm(folder, { recursive: true, force: true }));
  const recorded = join(folder, 'loop.json');
  await using gateway = await spawnGateway({
    ...byToken,
    NODE_ENV: 'production',
    UPSTREAM_URL: serviceUrl,
    UPSTREAM_API_KEY: 'held-by-the-gateway',
    DATA_DIR: join(folder, 'data'),
    NODE_OPTIONS: `--import=${new URL('loop-probe.ts', import.meta.url).href}`,
    LOOP_PROBE: recorded,
  });
  const { url, child, output, lines } = gateway;
  const attackers = start(made, 'attackers.ts');
  // The machine's cores are for the gateway, its service and its honest clients first.
  if (attackers.pid !== undefined) setPriority(attackers.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  attackers.send({ gatewayUrl: url, only } satisfies Order);
  onProgress(`preparing attacks on ${url}`);
  await answerOf(attackers);

  const waits = new Waits();
  const [over, watched] = [new AbortController(), new AbortController()];
  const [beganMs, ownTurns] = [sharedClockMs(), recordTurns()];
  const memory = watchMemory(child.pid ?? 0, watched.signal);
  const probes = ['/health/live', '/health/ready'].map((path) => probe(url, path, waits, watched.signal));
  const token = await tokenOf({ sub: 'pager', tenant: 'one' });
  const pagers = startPagers({ url, token, waits, signal: over.signal });
  const tenants = await Promise.all(TENANTS.map((name) => startTenant(url, name, waits, over.signal)));
  made.defer(() => {
    for (const { readers } of tenants) for (const { client } of readers) client.stop();
  });

  const end = Date.now() + seconds * 1000;
  /** A busy machine takes longer than a short soak until each honest client has done something. */
  const mayEnd = () =>
    Date.now() > end + GRACE_MS ||
    (Date.now() >= end &&
      pagers.walks.whole > 0 &&
      tenants.every(({ poster }) => poster.acknowledged.size > 0));
  while (!mayEnd() && child.exitCode === null && child.signalCode === null) {
    await pause(Math.min(5000, Math.max(100, end - Date.now())));
    // Only the last lines of its log are kept: they say why it died.
    lines.length = 0;
    output.text = output.text.slice(-TAIL_BYTES);
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    onProgress(`${left} s to go, ${Math.round(memory.lastMb())} MB`);
  }
  const died = child.exitCode ?? child.signalCode;
  attackers.send('stop');
  const attacks = await answerOf<Tallies>(attackers);
  over.abort();
  const reportOf = (rest: Partial<Report>): Report => ({
    seconds,
    attacks,
    died: null,
    mostMemoryMb: memory.mostMb(),
    lastMemoryMb: memory.lastMb(),
    waits: waits.summary(),
    walks: pagers.walks,
    deliveries: [],
    computeUnits: null,
    stray: [],
    turns: { 'honest clients': ownTurns },
    longestTurns: [],
    ...rest,
  });
  if (died !== null) {
    watched.abort();
    return reportOf({ died: `${died}: ${output.text}` });
  }
  await Promise.all([pagers.ended, ...tenants.map(({ poster }) => poster.ended)]);
  const deliveries = await Promise.all(tenants.map((tenant) => checkTenant(url, tenant, waits)));
  watched.abort();
  await Promise.all([memory.ended, ...probes]);
  service.send('stop');
  const served = await answerOf<Served>(service);
  const metrics = await scrape(url);
  const counted = ['transactions', 'collectibles'].map((resource) =>
    metrics.sum('gateway_upstream_compute_units_total', { resource }),
  );
  const connections = tenants.flatMap(({ readers }) => readers.map(({ client }) => client.connections));
  const since = sharedClockMs();
  const exitCode = await gateway.end('SIGTERM');
  const stopped = { exitCode, ms: sharedClockMs() - since };
  const { turns, longest } = await readTurns(recorded, beganMs);
  return reportOf({
    deliveries,
    computeUnits: { sent: served.computeUnits, counted: counted.reduce((sum, count) => sum + count, 0) },
    stray: served.stray,
    turns: { gateway: turns, 'honest clients': ownTurns, service: served.turns },
    longestTurns: longest,
    connections: connections.reduce((sum, count) => sum + count, 0),
    stopped,
  });
};
