import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { DELIVERY_BYTES, deliveryRequest, deliveryUrlOf } from './delivery.ts';
import { type Measured, measurePosts } from './posts.ts';
import type { Task } from './sqlite-alone.ts';

const IN_FLIGHT = 64;
const ROUNDS = 3;
const WARM_UP_MS = 1500;

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
  const directory = await mkdtemp(join(tmpdir(), 'bench-ingest-'));
  made.defer(() => rm(directory, { recursive: true, force: true }));
  const gateway = made.use(await spawnGateway(gatewayEnv(join(directory, 'data'))));
  const bare = made.use(await spawnGateway({}, 'scripts/bench/bare-http.ts'));
  const sqlite = startSqlite();
  made.defer(sqlite.end);

  let number = 0;
  const next = () => ++number;
  const deliveryUrl = await deliveryUrlOf(gateway.url);
  const post = (url: URL, inFlight: number, ms: number) =>
    measurePosts({ port: Number(url.port), inFlight, ms, next, request: () => deliveryRequest(url) });
  const subjects: readonly Subject[] = [
    { name: 'gateway', measure: (ms) => post(deliveryUrl, IN_FLIGHT, ms), ms: 3000 },
    {
      name: 'sqlite, same rows',
      measure: (ms) => sqlite.run({ rows: 'log', inFlight: IN_FLIGHT, ms }),
      ms: 2500,
    },
    {
      name: 'sqlite, bare rows',
      measure: (ms) => sqlite.run({ rows: 'bare', inFlight: IN_FLIGHT, ms }),
      ms: 2000,
    },
    {
      name: 'node:http alone',
      measure: (ms) => post(new URL('/deliveries', bare.url), IN_FLIGHT, ms),
      ms: 2000,
    },
    { name: 'gateway, 1 in flight', measure: (ms) => post(deliveryUrl, 1, ms), ms: 1000 },
  ];
  for (const { measure } of subjects) await measure(WARM_UP_MS);
  const results = new Map<string, Measured[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, measure, ms } of subjects) results.get(name)?.push(await measure(ms));
  }
  print(results);
};

type Subject = {
  readonly name: string;
  readonly measure: (ms: number) => Promise<Measured>;
  readonly ms: number;
};

/** A service that is not there is all that taking deliveries needs. */
const gatewayEnv = (dataDir: string) => ({
  UPSTREAM_URL: 'http://127.0.0.1:9',
  UPSTREAM_API_KEY: 'unused',
  DATA_DIR: dataDir,
});

const startSqlite = () => {
  const program = fileURLToPath(new URL('./sqlite-alone.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new TypeError('Expected pipes, got none.');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    async run(task: Task): Promise<Measured> {
      stdin.write(`${JSON.stringify(task)}\n`);
      const { value } = await lines.next();
      return JSON.parse(value ?? 'null');
    },
    async end(): Promise<void> {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      stdin.end();
      await ended;
    },
  };
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const print = (results: ReadonlyMap<string, readonly Measured[]>): void => {
  const rateOf = (name: string) => median((results.get(name) ?? []).map(({ rate }) => rate));
  const line = (text: string) => process.stdout.write(`${text}\n`);
  line(`Deliveries of ${DELIVERY_BYTES} bytes, ${IN_FLIGHT} in flight, medians of ${ROUNDS} turns:`);
  for (const [name, measured] of results) {
    const rate = Math.round(rateOf(name)).toLocaleString('en');
    const p50 = median(measured.map(({ p50Ms }) => p50Ms)).toFixed(2);
    const p99 = median(measured.map(({ p99Ms }) => p99Ms)).toFixed(2);
    line(
      `  ${name.padEnd(22)}${rate.padStart(9)} a second   p50 ${p50.padStart(7)} ms   p99 ${p99.padStart(7)} ms`,
    );
  }
  line('The gateway stores and answers, of what the other does:');
  for (const name of ['sqlite, same rows', 'sqlite, bare rows', 'node:http alone'])
    line(`  ${name.padEnd(22)}${(rateOf('gateway') / rateOf(name)).toFixed(2).padStart(9)}`);
};
