import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBeside } from '../../src/deliveries/sqlite/database.ts';
import { deliveriesOf } from '../../test/support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../test/support/clients/raw-socket.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { launchRedis, removeFolder } from '../../test/support/redis/server.ts';
import { decimals, median, print, tableOf, whole } from '../harness/figures.ts';
import { startHelper } from '../harness/processes.ts';
import { DELIVERY_BYTES, deliveryTo } from './delivery.ts';
import type { Load, LoadTask } from './load/load.ts';
import type { Task } from './stores.ts';

const IN_FLIGHT = 64;
const ROUNDS = 3;
const WARM_UP_MS = 1500;

type Figures = Omit<Load, 'samples' | 'failure'>;

type Subject = {
  readonly name: string;
  readonly measure: (ms: number) => Promise<Figures>;
  readonly ms: number;
};

/** A service that is not there is all that taking deliveries needs. */
const NOWHERE = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'unused' };

/**
 * How many deliveries a second are stored and answered, and how long each takes, against the machine's own limits, in
 * turns within one run, so that what else the machine does weighs on all alike:
 *
 * - `gateway`: the shipped process, posted to over HTTP by senders that wait for the 2xx, at 64 in flight and at 1.
 * - `sqlite, same rows`: SQLite group-committed (WAL, synchronous = FULL), in a process that does nothing else: no HTTP,
 *   no JSON, no threads. One delivery is one caller that awaits its durable answer, 64 of them in flight, so that a
 *   transaction holds 64. It stores the very rows of the log, by its code: all of its columns, indexes and addresses.
 * - `sqlite, bare rows`: the same with a table of a number, the body and a unique hash of it: exact dedup and no more. It
 *   is the most that the machine stores durably, and what nothing could be looked up in but by number.
 * - `node:http alone`: a server that reads the body and answers 200.
 *
 * With `--redis`, the log is in a Redis that syncs each write, and its limits are:
 *
 * - `the log alone`: the code of the log, without HTTP.
 * - `XADD`: the same bodies, each by a command of its own, over the same client. Nothing is found by it, not even a repeat.
 *
 * At the end, one subscriber of the gateway over a folder gets all that was stored, beside reading the rows in their order.
 *
 * All post the same bodies of 512 bytes, each unlike the others. The load shares the machine with what it measures.
 */
export const measureIngest = async (args: readonly string[]): Promise<void> => {
  const { redis: isRedis } = parseArgs({ args: [...args], options: { redis: { type: 'boolean' } } }).values;
  await using made = new AsyncDisposableStack();
  const load = made.use(startHelper(new URL('load/load.ts', import.meta.url)));
  const post = async (url: string, connections: number, ms: number): Promise<Figures> => {
    const { port, pathname } = new URL(url);
    const task: LoadTask = { port: Number(port), templates: [deliveryTo(pathname)], connections, ms };
    const { failure, ...figures } = await load.ask<Load>(task);
    if (failure !== null) throw new Error(failure);
    return figures;
  };
  const gatewayWith = async (env: Record<string, string>): Promise<string> => {
    const gateway = made.use(await spawnGateway({ ...NOWHERE, ...env }));
    return (await deliveriesOf(gateway.url)).deliveryUrl;
  };
  const { subjects, replay } = await (isRedis ? inRedis : inFolder)(made, gatewayWith, post);
  for (const { measure } of subjects) await measure(WARM_UP_MS);
  const results = subjects.map((subject) => ({ subject, measured: [] as Figures[] }));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { subject, measured } of results) measured.push(await subject.measure(subject.ms));

  const rows = results.map(({ subject: { name }, measured }) => ({
    name,
    rate: median(measured.map(({ rate }) => rate)),
    p50Ms: median(measured.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
  }));
  const own = rows[0]?.rate ?? Number.NaN;
  print(`Deliveries of ${DELIVERY_BYTES} bytes, ${IN_FLIGHT} in flight, medians of ${ROUNDS} turns:`);
  print(
    tableOf([
      ['', 'a second', 'p50 ms', 'p99 ms', 'p99 / p50', 'the gateway, of this'],
      ...rows.map(({ name, rate, p50Ms, p99Ms }) => [
        name,
        whole(rate),
        decimals(p50Ms),
        decimals(p99Ms),
        decimals(p99Ms / p50Ms, 1),
        name.startsWith('gateway') ? '' : decimals(own / rate),
      ]),
    ]),
  );
  if (replay) print(await replay());
};

/** The first and the last cursor of a log. */
const ENDS =
  '{ a: deliveries(first: 1) { pageInfo { startCursor } } b: deliveries(last: 1) { pageInfo { endCursor } } }';
const REPLAY = 'subscription ($after: String) { deliveries(after: $after) { cursor node { type chainId } } }';

/** How many of the stored deliveries one subscriber gets a second, and how many rows are read a second; medians. */
const compareReplay = async (url: string, path: string): Promise<string> => {
  const headers = { 'content-type': 'application/json' };
  const asked = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query: ENDS }),
  });
  const { data } = (await asked.json()) as { data: Record<'a' | 'b', { pageInfo: Record<string, string> }> };
  const [after = '', last = ''] = [data.a.pageInfo.startCursor, data.b.pageInfo.endCursor];
  const rates = { replay: [] as number[], rows: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    let count = 0;
    const ended = Promise.withResolvers<void>();
    using socket = await openRawSocket(url, (payload) => {
      count += 1;
      if (payload.includes(last)) ended.resolve();
    });
    let began = performance.now();
    socket.write(subscribeMessage(REPLAY, { after }));
    await ended.promise;
    rates.replay.push((1000 * count) / (performance.now() - began));
    using database = openBeside(path);
    began = performance.now();
    let read = 0;
    for (const _row of database.prepare('SELECT * FROM delivery ORDER BY id').iterate()) read += 1;
    rates.rows.push((1000 * read) / (performance.now() - began));
  }
  const [replay, rows] = [median(rates.replay), median(rates.rows)];
  return `Replay to one subscriber: ${whole(replay)} a second, ${decimals(replay / rows)} of reading the rows (${whole(rows)} a second).`;
};

type Subjects = { readonly subjects: readonly Subject[]; readonly replay?: () => Promise<string> };
type GatewayWith = (env: Record<string, string>) => Promise<string>;
type Post = (url: string, connections: number, ms: number) => Promise<Figures>;

/** The returned function stores deliveries without HTTP, in SQLite or Redis, in a process that does nothing else. */
const startStores = (made: AsyncDisposableStack, redisUrl: string | null) => {
  const stores = made.use(startHelper(new URL('stores.ts', import.meta.url)));
  return (rows: Task['rows'], ms: number) =>
    stores.ask<Figures>({ redisUrl, rows, inFlight: IN_FLIGHT, ms } satisfies Task);
};

const inFolder = async (
  made: AsyncDisposableStack,
  gatewayWith: GatewayWith,
  post: Post,
): Promise<Subjects> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-ingest-'));
  made.defer(() => removeFolder(dataDir));
  const deliveryUrl = await gatewayWith({ DATA_DIR: dataDir });
  const bare = made.use(await spawnGateway(NOWHERE, 'scripts/bench/lookups/raw-proxy.ts'));
  const store = startStores(made, null);
  const subjects: readonly Subject[] = [
    { name: 'gateway', measure: (ms) => post(deliveryUrl, IN_FLIGHT, ms), ms: 3000 },
    { name: 'sqlite, same rows', measure: (ms) => store('log', ms), ms: 2500 },
    { name: 'sqlite, bare rows', measure: (ms) => store('bare', ms), ms: 2000 },
    { name: 'node:http alone', measure: (ms) => post(bare.url, IN_FLIGHT, ms), ms: 2000 },
    { name: 'gateway, 1 in flight', measure: (ms) => post(deliveryUrl, 1, ms), ms: 1000 },
  ];
  const replay = () => compareReplay(new URL(deliveryUrl).origin, join(dataDir, 'deliveries.db'));
  return { subjects, replay };
};

const inRedis = async (
  made: AsyncDisposableStack,
  gatewayWith: GatewayWith,
  post: Post,
): Promise<Subjects> => {
  const redis = await launchRedis();
  made.defer(() => redis.stop());
  const deliveryUrl = await gatewayWith({ REDIS_URL: redis.url });
  const store = startStores(made, redis.url);
  const subjects: readonly Subject[] = [
    { name: 'gateway', measure: (ms) => post(deliveryUrl, IN_FLIGHT, ms), ms: 3000 },
    { name: 'the log alone', measure: (ms) => store('log', ms), ms: 2500 },
    { name: 'XADD', measure: (ms) => store('bare', ms), ms: 2000 },
    { name: 'gateway, 1 in flight', measure: (ms) => post(deliveryUrl, 1, ms), ms: 1000 },
  ];
  return { subjects };
};
