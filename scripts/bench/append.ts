import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { openRedisLog } from '../../src/deliveries/redis/log.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { findProgram, REDIS } from '../../test/support/debian-program.ts';
import { scrape } from '../../test/support/gateway/prometheus.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { launchRedis } from '../../test/support/redis/server.ts';
import {
  concernedBy,
  DELIVERY_BYTES,
  deliveryBody,
  deliveryRequest,
  deliveryUrlOf,
  WEBHOOK,
} from './delivery.ts';
import { measurePosts } from './posts.ts';
import { median } from './processes.ts';

const IN_FLIGHT = 64;
const ROUNDS = 5;
const TURN_MS = 2000;
const WARM_UP_MS = 1500;
const XADDS = 40_000;
/** A second, then the average, the least, the median, p95, p99 and the most of the times. */
const FIGURES = 7;

/** A second, and the CPU of Redis and of the process that sends to it for each, in microseconds. */
type Appended = { readonly rate: number; readonly redisUs: number; readonly senderUs: number };

type Subject = {
  readonly name: string;
  /** Resolves with how many were appended, and how many a second. */
  readonly append: (ms: number) => Promise<{ readonly count: number; readonly rate: number }>;
  /** The CPU seconds of the process that sends to Redis. */
  readonly cpuSeconds: () => Promise<number>;
};

/**
 * How many deliveries of 512 bytes a second are appended to one Redis with `appendonly yes` and `appendfsync always`, at 64
 * in flight, in turns within one run:
 *
 * - `redis-benchmark`: its XADD of the same bodies to a stream, and nothing else.
 * - `log`: the log of a gateway, without HTTP: repeats, numbers, compression and index as well. 64 callers of this process
 *   await their durable answers.
 * - `gateway`: the shipped process, posted to over HTTP.
 */
export const measureAppend = async (): Promise<void> => {
  await using made = new AsyncDisposableStack();
  const redis = await launchRedis();
  made.defer(() => redis.stop());
  const gateway = made.use(
    await spawnGateway({
      UPSTREAM_URL: 'http://127.0.0.1:9',
      UPSTREAM_API_KEY: 'unused',
      REDIS_URL: redis.url,
    }),
  );
  const connection = await connectRedis({ urls: [redis.url] });
  made.defer(() => connection.close());
  const log = await openRedisLog({ redis: connection, retentionHours: 24, retentionCount: 10_000_000 });
  made.defer(() => log.close());

  let number = 0;
  const next = () => ++number;
  const deliveryUrl = await deliveryUrlOf(gateway.url);
  const cpuOfRedis = async () => secondsIn(String(await redis.run('INFO', 'cpu')));
  const subjects: readonly Subject[] = [
    {
      name: 'redis-benchmark',
      append: async () => ({ count: XADDS, rate: await xaddRate(redis.port) }),
      cpuSeconds: async () => Number.NaN,
    },
    {
      name: 'log',
      append: (ms) => appendFor(ms, next, (at) => log.append([newDelivery(at)])),
      cpuSeconds: async () => ownCpuSeconds(),
    },
    {
      name: 'gateway',
      append: async (ms) => {
        const request = () => deliveryRequest(deliveryUrl);
        const posted = { port: Number(deliveryUrl.port), inFlight: IN_FLIGHT, ms, next, request };
        const { answered, rate } = await measurePosts(posted);
        return { count: answered, rate };
      },
      cpuSeconds: async () => (await scrape(gateway.url)).sum('process_cpu_seconds_total'),
    },
  ];
  const measure = async ({ append, cpuSeconds }: Subject, ms: number): Promise<Appended> => {
    const [redisBefore, senderBefore] = [await cpuOfRedis(), await cpuSeconds()];
    const { count, rate } = await append(ms);
    const redisUs = (((await cpuOfRedis()) - redisBefore) * 1e6) / count;
    return { rate, redisUs, senderUs: (((await cpuSeconds()) - senderBefore) * 1e6) / count };
  };
  for (const subject of subjects) await measure(subject, WARM_UP_MS);
  const results = new Map<string, Appended[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const subject of subjects) results.get(subject.name)?.push(await measure(subject, TURN_MS));
  }
  print(results);
};

const xaddRate = async (port: number): Promise<number> => {
  const redis = await findProgram(REDIS);
  if (typeof redis === 'string') throw new Error(redis);
  const program = redis.path.replace(/redis-server$/, 'redis-benchmark');
  const load = ['-p', String(port), '-c', String(IN_FLIGHT), '-n', String(XADDS), '--csv'];
  const command = ['XADD', 'bench', '*', 'b', deliveryBody(0).toString()];
  const { stdout } = await promisify(execFile)(program, [...load, ...command], { env: redis.env });
  await promisify(execFile)(program.replace(/benchmark$/, 'cli'), ['-p', String(port), 'UNLINK', 'bench'], {
    env: redis.env,
  });
  // The figures are what follows the command, whose body has quotes in it as well.
  const figures = stdout.trim().match(/"[\d.]+"/g) ?? [];
  return Number(figures.at(-FIGURES)?.replaceAll('"', ''));
};

const appendFor = async (
  ms: number,
  next: () => number,
  append: (number: number) => Promise<unknown>,
): Promise<{ readonly count: number; readonly rate: number }> => {
  const startedAt = performance.now();
  let count = 0;
  const keepAppending = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) {
      await append(next());
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, keepAppending));
  return { count, rate: (count / (performance.now() - startedAt)) * 1000 };
};

const newDelivery = (number: number) => ({
  tenant: 'bench',
  webhookId: WEBHOOK,
  type: 'activities' as const,
  chainId: 8453,
  receivedAt: Date.now(),
  dispatchedAt: Date.now(),
  attempt: 0,
  addresses: concernedBy(number),
  subscribedAddress: null,
  body: deliveryBody(number),
});

const secondsIn = (info: string): number =>
  [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].reduce(
    (sum, [, seconds]) => sum + Number(seconds),
    0,
  );

const ownCpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const print = (results: ReadonlyMap<string, readonly Appended[]>): void => {
  const of = (name: string, what: keyof Appended) =>
    median((results.get(name) ?? []).map((appended) => appended[what]));
  const line = (text: string) => process.stdout.write(`${text}\n`);
  line(`Deliveries of ${DELIVERY_BYTES} bytes, ${IN_FLIGHT} in flight, medians of ${ROUNDS} turns:`);
  for (const name of results.keys()) {
    const rate = Math.round(of(name, 'rate')).toLocaleString('en');
    const [redisUs, senderUs] = [of(name, 'redisUs').toFixed(1), of(name, 'senderUs').toFixed(1)];
    line(
      `  ${name.padEnd(16)}${rate.padStart(9)} a second, CPU of Redis ${redisUs} µs, of its sender ${senderUs} µs`,
    );
  }
  for (const name of ['log', 'gateway'])
    line(
      `The ${name} appends, of what redis-benchmark does: ${(of(name, 'rate') / of('redis-benchmark', 'rate')).toFixed(2)}; ` +
        `of Redis' CPU: ${(of('redis-benchmark', 'redisUs') / of(name, 'redisUs')).toFixed(2)}`,
    );
};
