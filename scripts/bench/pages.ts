import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { scrape } from '../../test/support/gateway/prometheus.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { launchRedis } from '../../test/support/redis/server.ts';

const ROUNDS = 5;
/** The first rounds: in them code is compiled, and the memory of pages is filled. */
const WARM_UPS = 3;
/** As many pages as CACHE_MAX_MB has room for. */
const WALLETS = 200;
const queryFor = (first: number): string =>
  `query ($address: Address!) { wallet(address: $address) { transactions(first: ${first}) { nodes { hash blockTime from to value } } } }`;

type Cost = { readonly cpuUs: number; readonly medianMs: number };

/**
 * What a page of 156 KB costs that another gateway has fetched, against fetching and reading it, in turns within one run.
 * Each turn asks for the same wallets one after the other, whose answers have 20 small items or 19:
 *
 * - `fetched`: a gateway without Redis requests each page of a static upstream on loopback, which answers at once.
 * - `shared`: a gateway finds each page in Redis, where a third one has stored it just before.
 * - `in memory`: the same gateway again, which makes another answer of the same page. It is what the answer itself costs, and
 *   is subtracted from both.
 *
 * CPU is that of the whole process, as its metrics have it. Times are those of a client, from the request to the answer.
 */
export const measurePages = async (): Promise<void> => {
  await using made = new AsyncDisposableStack();
  const redis = await launchRedis({ settings: ['--appendonly', 'no'] });
  made.defer(() => redis.stop());
  const upstream = made.use(await spawnGateway({}, 'scripts/bench/lookups/upstream.ts'));
  const env = { UPSTREAM_URL: upstream.url, UPSTREAM_API_KEY: 'key-of-the-bench', AUTH: 'open' };
  const onRedis = { REDIS_URL: redis.url, REDIS_DURABILITY: 'relaxed' };
  const start = (more: Record<string, string>) => spawnGateway({ ...env, CACHE_HEAD_MS: '3600000', ...more });
  const folder = await mkdtemp(join(tmpdir(), 'bench-pages-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const alone = made.use(await start({ DATA_DIR: folder }));
  const first = made.use(await start(onRedis));
  const second = made.use(await start(onRedis));

  const costs = new Map<string, Cost[]>();
  let number = 0;
  for (let round = 0; round < WARM_UPS + ROUNDS; round += 1) {
    const addresses = Array.from({ length: WALLETS }, () => `0x${(++number).toString(16).padStart(40, '0')}`);
    const measured = {
      fetched: await ask(alone.url, addresses, 20),
      stored: await ask(first.url, addresses, 20),
      shared: await ask(second.url, addresses, 20),
      'in memory': await ask(second.url, addresses, 19),
    };
    for (const [name, cost] of Object.entries(measured))
      if (round >= WARM_UPS) costs.set(name, [...(costs.get(name) ?? []), cost]);
  }
  const hits = (await scrape(second.url)).sum('gateway_shared_pages_total', { result: 'hit' });
  if (hits !== number) throw new Error(`expected ${number} pages from Redis, got ${hits}`);
  const of = (name: string, what: keyof Cost) => median((costs.get(name) ?? []).map((cost) => cost[what]));
  for (const name of costs.keys())
    process.stdout.write(
      `${name}: ${of(name, 'cpuUs').toFixed(0)} µs of CPU, ${of(name, 'medianMs').toFixed(2)} ms\n`,
    );
  for (const what of ['cpuUs', 'medianMs'] as const) {
    const base = of('in memory', what);
    const ratio = (of('shared', what) - base) / (of('fetched', what) - base);
    process.stdout.write(`a page from Redis, of fetching and reading it, by ${what}: ${ratio.toFixed(2)}\n`);
  }
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const cpuSecondsOf = async (url: string): Promise<number> =>
  (await scrape(url)).sum('process_cpu_seconds_total');

const ask = async (url: string, addresses: readonly string[], first: number): Promise<Cost> => {
  const before = await cpuSecondsOf(url);
  const times: number[] = [];
  for (const address of addresses) {
    const startedAt = performance.now();
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: queryFor(first), variables: { address } }),
    });
    const { errors } = (await response.json()) as { errors?: unknown };
    if (errors) throw new Error(JSON.stringify(errors));
    times.push(performance.now() - startedAt);
  }
  return { cpuUs: ((await cpuSecondsOf(url)) - before) * (1e6 / addresses.length), medianMs: median(times) };
};
