import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliveriesOf } from '../../test/support/clients/deliver.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { removeFolder } from '../../test/support/redis/server.ts';
import { decimals, median, print, tableOf, whole } from '../harness/figures.ts';
import { startHelper } from '../harness/processes.ts';
import { DELIVERY_BYTES, deliveryTo } from './delivery.ts';
import type { Load, LoadTask } from './load/load.ts';
import type { Task } from './sqlite-alone.ts';

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
 * All post the same bodies of 512 bytes, each unlike the others. The load shares the machine with what it measures.
 */
export const measureIngest = async (): Promise<void> => {
  await using made = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-ingest-'));
  made.defer(() => removeFolder(dataDir));
  const gateway = made.use(await spawnGateway({ ...NOWHERE, DATA_DIR: dataDir }));
  const bare = made.use(await spawnGateway(NOWHERE, 'scripts/bench/lookups/raw-proxy.ts'));
  const load = made.use(startHelper(new URL('load/load.ts', import.meta.url)));
  const sqlite = made.use(startHelper(new URL('sqlite-alone.ts', import.meta.url)));

  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const post = async (url: string, connections: number, ms: number): Promise<Figures> => {
    const { port, pathname } = new URL(url);
    const task: LoadTask = { port: Number(port), templates: [deliveryTo(pathname)], connections, ms };
    const { failure, ...figures } = await load.ask<Load>(task);
    if (failure !== null) throw new Error(failure);
    return figures;
  };
  const store = (rows: Task['rows'], ms: number) =>
    sqlite.ask<Figures>({ rows, inFlight: IN_FLIGHT, ms } satisfies Task);
  const subjects: readonly Subject[] = [
    { name: 'gateway', measure: (ms) => post(deliveryUrl, IN_FLIGHT, ms), ms: 3000 },
    { name: 'sqlite, same rows', measure: (ms) => store('log', ms), ms: 2500 },
    { name: 'sqlite, bare rows', measure: (ms) => store('bare', ms), ms: 2000 },
    { name: 'node:http alone', measure: (ms) => post(bare.url, IN_FLIGHT, ms), ms: 2000 },
    { name: 'gateway, 1 in flight', measure: (ms) => post(deliveryUrl, 1, ms), ms: 1000 },
  ];
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
      ['', 'a second', 'p50 ms', 'p99 ms', 'the gateway, of this'],
      ...rows.map(({ name, rate, p50Ms, p99Ms }) => [
        name,
        whole(rate),
        decimals(p50Ms),
        decimals(p99Ms),
        name.startsWith('gateway') ? '' : decimals(own / rate),
      ]),
    ]),
  );
};
