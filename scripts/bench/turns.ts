import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { deliver, deliveriesOf } from '../../test/support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../test/support/clients/raw-socket.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { removeFolder } from '../../test/support/redis/server.ts';
import { decimals, print, tableOf } from '../harness/figures.ts';
import { startHelper } from '../harness/processes.ts';
import { LONG_MS, sharedClockMs, type Turn } from '../soak/loop.ts';
import { address, deliveryOf } from './delivery.ts';
import { templatesOf, WORKLOADS } from './lookups/workloads.ts';

const ROWS = 20_000;
const SENDERS = 32;
const SUBSCRIBERS = 1000;
const AT_ONCE = 50;
const SEARCHES = 30;
const PHASE_MS = 6000;

/** Each condition alone matches many deliveries; together they match none. */
const NEVER = `{ address: "${address('cc')}", chainIds: [1] }`;

type Phase = readonly [name: string, from: number, to: number];

type Load = (url: string, until: number) => Promise<void>;

const repeat = async (until: number, run: () => Promise<void>): Promise<void> => {
  while (performance.now() < until) await run();
};

/** All subscribe, get a delivery and leave, again and again. */
const churn: Load = (url, until) =>
  repeat(until, async () => {
    const sockets: Awaited<ReturnType<typeof openRawSocket>>[] = [];
    const open = async () => {
      const socket = await openRawSocket(url, () => {});
      socket.write(subscribeMessage('subscription { deliveries { cursor node { payload } } }'));
      sockets.push(socket);
    };
    while (sockets.length < SUBSCRIBERS && performance.now() < until)
      await Promise.all(Array.from({ length: AT_ONCE }, open));
    for (const socket of sockets) socket[Symbol.dispose]();
  });

const searches: Load = async (url, until) => {
  const query = `{ deliveries(last: 20, filter: ${NEVER}) { nodes { id } } }`;
  const headers = { 'content-type': 'application/json' };
  const search = async () => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query }),
    });
    await response.text();
  };
  await Promise.all(Array.from({ length: SEARCHES }, () => repeat(until, search)));
};

/** Of the turns that ended in a phase, that with the most of this. */
const mostIn = (turns: readonly Turn[], [, from, to]: Phase, of: (turn: Turn) => number): number =>
  Math.max(0, ...turns.filter(({ endMs }) => endMs > from && endMs <= to).map(of));

/**
 * The longest turns of the gateway's event loop beside pages of 5 MB, 1,000 subscribers who come and go, 30 searches at once
 * of a log of 20,000 deliveries that match none, and all of these together. A turn also lasts while V8's main thread waits for
 * its helpers: on a busy machine these have no core, and the time on a core says more.
 */
export const measureTurns = async (): Promise<void> => {
  await using made = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-turns-'));
  made.defer(() => removeFolder(dataDir));
  const upstream = made.use(await spawnGateway({}, 'scripts/bench/lookups/upstream.ts'));
  const helper = made.use(startHelper(new URL('load/load.ts', import.meta.url)));
  const recorded = join(dataDir, 'turns.json');
  const gateway = await spawnGateway({
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: 'unused',
    DATA_DIR: join(dataDir, 'log'),
    NODE_OPTIONS: `--import=${new URL('../soak/loop-probe.ts', import.meta.url).href}`,
    LOOP_PROBE: recorded,
  });
  made.use(gateway);
  const { url } = gateway;
  const large = WORKLOADS.find(({ beside }) => beside)?.beside;
  if (!large) throw new TypeError('Expected a workload beside pages of 5 MB.');
  const pages: Load = async (_url, until) => {
    const { connections, rate } = large;
    const task = { templates: templatesOf(large), connections, pages: 1, wallets: null, rate, beside: null };
    await helper.ask({ ...task, port: Number(new URL(url).port), ms: until - performance.now() });
  };
  const phases: Readonly<Record<string, readonly Load[]>> = {
    'pages of 5 MB': [pages],
    'subscribers who come and go': [churn],
    'searches of the log': [searches],
    'all of these': [pages, churn, searches],
  };

  const { deliveryUrl } = await deliveriesOf(url);
  let row = 0;
  const send = async (): Promise<void> => {
    while (row < ROWS)
      await deliver(deliveryUrl, { type: 'ACTIVITIES', chainId: 8453, body: deliveryOf(row++).body });
  };
  await Promise.all(Array.from({ length: SENDERS }, send));

  const times: Phase[] = [];
  for (const [name, loads] of Object.entries(phases)) {
    const from = sharedClockMs();
    const until = performance.now() + PHASE_MS;
    await Promise.all(loads.map((load) => load(url, until)));
    times.push([name, from, sharedClockMs()]);
  }
  const ended = new Promise((resolve) => gateway.child.once('exit', resolve));
  process.kill(gateway.child.pid ?? 0, 'SIGTERM');
  await ended;
  const turns: readonly Turn[] = JSON.parse(await readFile(recorded, 'utf8'));
  const rows = times.map((phase) => {
    const most = [
      ({ ranMs }: Turn) => ranMs,
      ({ tookMs, noCoreMs }: Turn) => tookMs - noCoreMs,
      ({ tookMs }: Turn) => tookMs,
    ];
    return [phase[0], ...most.map((of) => decimals(mostIn(turns, phase, of), 0))];
  });
  print(`Turns of ${LONG_MS} ms or more; 0: there was none.`);
  print(tableOf([['the longest turn beside', 'ms on a core', 'ms without waits for a core', 'ms'], ...rows]));
};
