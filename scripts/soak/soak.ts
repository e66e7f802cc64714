import { mkdtemp, readFile } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { scrape } from '../../test/support/gateway/prometheus.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { byToken, tokenOf } from '../../test/support/gateway/tokens.ts';
import { removeFolder } from '../../test/support/redis/server.ts';
import { sum } from '../harness/figures.ts';
import { startHelper } from '../harness/processes.ts';
import { ask } from './ask.ts';
import type { Order } from './attackers.ts';
import { recordTurns, sharedClockMs, type Turn } from './loop.ts';
import { watchMemory } from './memory.ts';
import { startPagers } from './pagers.ts';
import { repeat, type Tally } from './repeat.ts';
import type { Report } from './report.ts';
import type { Served } from './service.ts';
import { startTenant } from './tenants.ts';
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
  /** A folder for a CPU profile of the gateway. */
  readonly profile?: string | undefined;
  readonly onProgress?: (line: string) => void;
};

/** The turns that a process with loop-probe.ts has recorded since, when it has ended. */
export const readTurns = async (file: string, sinceMs: number): Promise<readonly Turn[]> => {
  const turns: readonly Turn[] = JSON.parse(await readFile(file, 'utf8'));
  return turns.filter(({ endMs, tookMs }) => endMs - tookMs > sinceMs);
};

/**
 * The shipped gateway with AUTH=jwt and NODE_ENV=production, under all attacks at once, while honest clients page,
 * subscribe and post. Everything is on loopback, and gone when it resolves.
 */
export const soak = async (options: SoakOptions): Promise<Report> => {
  const { seconds, only = null, profile, onProgress = () => {} } = options;
  await using made = new AsyncDisposableStack();
  const service = made.use(startHelper(new URL('service.ts', import.meta.url)));
  const folder = await mkdtemp(join(tmpdir(), 'gateway-soak-'));
  made.defer(() => removeFolder(folder));
  const recorded = join(folder, 'loop.json');
  const probe = `--import=${new URL('loop-probe.ts', import.meta.url).href}`;
  const gateway = made.use(
    await spawnGateway({
      ...byToken,
      NODE_ENV: 'production',
      UPSTREAM_URL: (await service.ask<Served>(null)).url,
      UPSTREAM_API_KEY: 'held-by-the-gateway',
      DATA_DIR: join(folder, 'data'),
      NODE_OPTIONS: profile === undefined ? probe : `${probe} --cpu-prof --cpu-prof-dir=${profile}`,
      LOOP_PROBE: recorded,
    }),
  );
  const { url, child, output, lines } = gateway;
  using attackers = startHelper(new URL('attackers.ts', import.meta.url), [], true);
  // The machine's cores are for the gateway, its service and its honest clients first.
  setPriority(attackers.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  onProgress(`preparing attacks on ${url}`);
  await attackers.ask({ gatewayUrl: url, only } satisfies Order);

  const waits = new Waits();
  const [over, watched] = [new AbortController(), new AbortController()];
  const [beganMs, ownTurns] = [sharedClockMs(), recordTurns()];
  const memory = watchMemory(child.pid ?? 0, watched.signal);
  for (const path of ['/health/live', '/health/ready']) {
    const probe = async (): Promise<string> => {
      const outcome = await waits.measure(path, ask(url + path)).then((answer) => answer.outcome, String);
      if (outcome !== '200') waits.refuse(path, outcome);
      return outcome;
    };
    repeat(probe, { pauseMs: PROBE_MS, signal: watched.signal });
  }
  const honest = { waits, signal: over.signal };
  const token = await tokenOf({ sub: 'pager', tenant: 'one' });
  const pagers = startPagers(url, { token, ...honest });
  const tenants = await Promise.all(TENANTS.map((name) => startTenant(url, name, honest)));
  for (const tenant of tenants) made.use(tenant);

  const end = Date.now() + seconds * 1000;
  /** A busy machine takes longer than a short soak until each honest client has done something. */
  const mayEnd = () =>
    Date.now() > end + GRACE_MS ||
    (Date.now() >= end &&
      (pagers.tally.whole ?? 0) > 0 &&
      tenants.every(({ acknowledged }) => acknowledged.size > 0));
  while (!mayEnd() && child.exitCode === null && child.signalCode === null) {
    await pause(Math.min(5000, Math.max(100, end - Date.now())));
    // Only the last lines of its log are kept: they say why it died.
    lines.length = 0;
    output.text = output.text.slice(-TAIL_BYTES);
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    onProgress(`${left} s to go, ${Math.round(memory.lastMb())} MB`);
  }
  const died = child.exitCode ?? child.signalCode;
  const attacks = await attackers.ask<Record<string, Tally>>(null);
  attackers[Symbol.dispose]();
  over.abort();
  const reportOf = (rest: Partial<Report>): Report => ({
    seconds,
    attacks,
    died: null,
    mostMemoryMb: memory.mostMb(),
    lastMemoryMb: memory.lastMb(),
    waits: waits.summary(),
    walks: pagers.tally,
    deliveries: [],
    computeUnits: null,
    stray: [],
    turns: { 'honest clients': ownTurns },
    ...rest,
  });
  if (died !== null) {
    watched.abort();
    return reportOf({ died: `${died}: ${output.text}` });
  }
  await Promise.all([pagers.ended, ...tenants.map(({ ended }) => ended)]);
  const deliveries = await Promise.all(tenants.map((tenant) => tenant.check()));
  watched.abort();
  const { computeUnits: sent, stray, turns } = await service.ask<Served>(null);
  const metrics = await scrape(url);
  const counted = ['transactions', 'collectibles'].map((resource) =>
    metrics.sum('gateway_upstream_compute_units_total', { resource }),
  );
  const connections = sum(tenants.map((tenant) => tenant.connections()));
  const since = sharedClockMs();
  const exitCode = await gateway.end('SIGTERM');
  const stopped = { exitCode, ms: sharedClockMs() - since };
  return reportOf({
    deliveries,
    computeUnits: { sent, counted: sum(counted) },
    stray,
    turns: { gateway: await readTurns(recorded, beganMs), 'honest clients': ownTurns, service: turns },
    connections,
    stopped,
  });
};
