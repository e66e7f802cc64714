import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { deliveriesOf } from '../../test/support/clients/deliver.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { launchRedis, removeFolder } from '../../test/support/redis/server.ts';
import { decimals, median, print, sum } from '../harness/figures.ts';
import { measureCpu, memoryOf, startHelper } from '../harness/processes.ts';
import { address, DELIVERY_BYTES, deliveryOf, TOKEN } from './delivery.ts';
import type { Operation, Published, Question } from './fanout-load.ts';

/** So many that V8 has compiled what runs once for an event, too. */
const WARM_UPS = 25;
/** Longer than the probe takes to collect garbage. */
const COLLECTED_MS = 2000;
const IDLE_MS = 5000;
/** Subscribers that read for this share of the time are what limits a server's rate. */
const LIMITING = 0.9;

const SHOWN = `cursor node {
    id type chainId receivedAt
    events {
      __typename
      ... on TransactionEvent { transaction { hash direction value } }
      ... on Activity { typeName transactionHash from to tokenAddress value }
      ... on BalanceChange { tokenSymbol amountDelta }
    }
  }`;
const DASHBOARD: Operation = { query: `subscription { deliveries { ${SHOWN} } }` };

const FILTERS = 100;
/** An event of the benches matches each of them, by one of its addresses. */
export const FILTERED = Array.from(
  { length: FILTERS },
  (_, index): Operation => ({
    query: `subscription ($filter: DeliveryFilter) { deliveries(filter: $filter) { ${SHOWN} } }`,
    variables: { filter: { addresses: [TOKEN, address(String(index))] } },
  }),
);

/** The subscribers of a run ask for its operations in turns. */
type Run = { readonly title: string; readonly operations: readonly Operation[] };

const RUNS: Readonly<Record<string, Run>> = {
  dashboard: { title: 'what a dashboard shows', operations: [DASHBOARD] },
  filters: { title: `the same by ${FILTERS} filters`, operations: FILTERED },
  least: {
    title: 'the least that resumes',
    operations: [{ query: 'subscription { deliveries { cursor } }' }],
  },
};

const countIn = (option: string, text: string): number => {
  const count = Number(text);
  if (!(Number.isInteger(count) && count > 0))
    throw new Error(`${option}: expected a whole number above 0, got ${text}`);
  return count;
};

/** Throws for an option that is unknown, and for a value that is not allowed. */
const readOptions = (args: readonly string[]) => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: Object.keys(RUNS).join() },
      subscribers: { type: 'string', default: '5000' },
      rounds: { type: 'string', default: '15' },
      'no-stock': { type: 'boolean', default: false },
    },
  });
  const runs = values.only.split(',').map((name) => {
    const run = RUNS[name];
    if (run === undefined)
      throw new Error(`--only: expected some of ${Object.keys(RUNS).join(', ')}, got ${name}`);
    return run;
  });
  return {
    runs,
    subscribers: countIn('--subscribers', values.subscribers),
    rounds: countIn('--rounds', values.rounds),
    withStock: !values['no-stock'],
  };
};

type Server = { readonly url: string; readonly pid: number };

/** Servers whose subscribers get the same events, which are posted to this path of the first one. */
type Group = {
  readonly name: string;
  readonly servers: readonly Server[];
  readonly path: string;
  /** Whether it is posted what the subscribers of the first group got, not the event. */
  readonly repeats?: boolean;
};

/** What a group takes for one event in milliseconds, and for an idle subscriber. */
type Figures = {
  readonly ms: number;
  readonly cpuMs: number;
  readonly kibEach: number;
  /** The share of the time that its subscribers were reading. */
  readonly reading: number;
};

const start = async (
  made: AsyncDisposableStack,
  env: Record<string, string>,
  entry?: string,
): Promise<Server> => {
  const probe = new URL('probe.ts', import.meta.url).href;
  const { url, child } = made.use(await spawnGateway({ NODE_OPTIONS: `--import=${probe}`, ...env }, entry));
  return { url, pid: child.pid ?? 0 };
};

/** Gateways that share this environment. A service that is not there is all that deliveries need. */
const gateways = async (
  made: AsyncDisposableStack,
  name: string,
  count: number,
  env: Record<string, string>,
): Promise<Group> => {
  const servers: Server[] = [];
  while (servers.length < count)
    servers.push(
      await start(made, { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'unused', ...env }),
    );
  const { deliveryUrl } = await deliveriesOf(servers[0]?.url ?? '');
  return { name, servers, path: new URL(deliveryUrl).pathname };
};

/** Resident memory of a group in MiB, after full collections of garbage. */
const memoryNow = async ({ servers }: Group): Promise<number> => {
  for (const { pid } of servers) process.kill(pid, 'SIGUSR2');
  await pause(COLLECTED_MS);
  return sum(servers.map(({ pid }) => memoryOf(pid).mib));
};

/** Does the work, and says how long it took, and the CPU time of a group meanwhile. */
const measureGroup = async <Answer>({ servers }: Group, work: () => Promise<Answer>) => {
  const pids = servers.map(({ pid }) => pid);
  const { answer, elapsedMs, cpuMs } = await measureCpu(pids, work);
  return { answer, elapsedMs, cpuMs: sum(cpuMs) };
};

/** The CPU time that a group takes for each millisecond without an event, such as for pings. */
const idleCpu = async (group: Group): Promise<number> => {
  const { elapsedMs, cpuMs } = await measureGroup(group, () => pause(IDLE_MS));
  return cpuMs / elapsedMs;
};

/** Measures the groups in turns; prints a line for each, and returns their medians. */
const compare = async (
  operations: readonly Operation[],
  subscribers: number,
  rounds: number,
  groups: readonly Group[],
): Promise<readonly Figures[]> => {
  using load = startHelper(new URL('fanout-load.ts', import.meta.url));
  const ask = <Answer>(question: Question) => load.ask<Answer>(question);
  const urlOf = ({ servers: [first] }: Group) => first?.url ?? '';
  const measured: { group: Group; kibEach: number; events: Published[]; cpuMs: number; tookMs: number }[] =
    [];
  for (const group of groups) {
    const before = await memoryNow(group);
    const urls = group.servers.map(({ url }) => url);
    await ask({ ask: 'subscribe', urls, operations, count: subscribers });
    const kibEach = (1024 * ((await memoryNow(group)) - before)) / subscribers;
    measured.push({ group, kibEach, events: [], cpuMs: 0, tookMs: 0 });
  }
  const [own] = groups;
  for (let round = 0; round < WARM_UPS + rounds; round += 1)
    for (const one of measured) {
      const { group, events } = one;
      const body =
        group.repeats && own
          ? await ask<string>({ ask: 'last', url: urlOf(own) })
          : String(deliveryOf(round).body);
      const {
        answer: event,
        elapsedMs,
        cpuMs,
      } = await measureGroup(group, () =>
        ask<Published | null>({ ask: 'publish', url: urlOf(group), path: group.path, body }),
      );
      if (round < WARM_UPS) continue;
      if (event === null)
        throw new Error(`Expected all subscribers of ${group.name} to get an event, got fewer.`);
      events.push(event);
      one.cpuMs += cpuMs;
      one.tookMs += elapsedMs;
    }
  const idle = await Promise.all(measured.map(({ group }) => idleCpu(group)));
  return measured.map(({ group, kibEach, events, ...one }, index) => {
    const idleShare = idle[index] ?? 0;
    const cpuMs = (one.cpuMs - idleShare * one.tookMs) / rounds;
    const times = events.map(({ ms }) => ms);
    const reading = sum(events.map(({ readingMs }) => readingMs)) / sum(times);
    const shown = [Math.min(...times), median(times), Math.max(...times)].map((time) => decimals(time, 1));
    print(
      `  ${group.name.padEnd(14)} ${shown.join(' / ')} ms (least, median, most), ${decimals(cpuMs, 1)} ms of CPU (and ${decimals(100 * idleShare, 1)} % without events), ${decimals(kibEach, 1)} KiB each; its subscribers read ${decimals(100 * reading, 0)} % of the time`,
    );
    return { ms: median(times), cpuMs, kibEach, reading };
  });
};

/**
 * How soon one event of 512 bytes is with 5,000 WebSocket subscribers, and what an idle one costs in memory: the
 * gateway as shipped, with its durable log, in turns in one run with
 *
 * - `stock`: graphql-ws and pub/sub over the same schema. It stores nothing, and no filter leaves an event out.
 * - `bare ws`: the limit. It writes one ready frame, with the text that the gateway's subscribers got, to each socket.
 *
 * The clock runs from the post of the event to the last subscriber's frame, in the process of the subscribers. CPU time is
 * the server's, of all its threads, in steps of 10 ms, beyond what it takes without events. Where the subscribers read for
 * nearly all of the time, they are the limit, and only CPU time compares the servers. Memory is what a fresh process has grown by, what it grows by once
 * included.
 */
export const measureFanout = async (args: readonly string[]): Promise<void> => {
  const { runs, subscribers, rounds, withStock } = readOptions(args);
  for (const { title, operations } of runs) {
    await using made = new AsyncDisposableStack();
    const dataDir = await mkdtemp(join(tmpdir(), 'bench-fanout-'));
    made.defer(() => removeFolder(dataDir));
    print(
      `\n${subscribers} subscribers of ${title}, ${rounds} events of ${DELIVERY_BYTES} bytes each, in turns`,
    );
    const path = '/publish';
    const bare = {
      name: 'bare ws',
      servers: [await start(made, {}, 'scripts/bench/fanout-bare.ts')],
      path,
      repeats: true,
    };
    const groups: Group[] = [await gateways(made, 'gateway', 1, { DATA_DIR: dataDir }), bare];
    if (withStock)
      groups.push({ name: 'stock', servers: [await start(made, {}, 'scripts/bench/fanout-stock.ts')], path });
    const [own, limit, stock] = await compare(operations, subscribers, rounds, groups);
    if (own === undefined || limit === undefined) throw new TypeError('Expected two groups, got fewer.');
    if (stock)
      print(
        `  all have it ${decimals(stock.ms / own.ms, 1)} times sooner than with stock; an idle subscriber takes 1/${decimals(stock.kibEach / own.kibEach, 1)} of its memory`,
      );
    print(
      `  of the rate of the bare server: ${decimals(limit.ms / own.ms)}; by CPU time: ${decimals(limit.cpuMs / own.cpuMs)}`,
    );
    if (own.reading > LIMITING) print('  the subscribers limit the rate: only CPU time compares the servers');
  }
};

/**
 * How soon one event is with 3,000 subscribers of three gateways on one Redis, against those of one gateway on another
 * Redis, in turns in one run. Both sync each delivery. All share the machine: three gateways do more work than one, since
 * each executes the subscription once.
 */
export const measureGateways = async (): Promise<void> => {
  const [subscribers, rounds] = [3000, 30];
  await using made = new AsyncDisposableStack();
  const onRedis = async (name: string, count: number): Promise<Group> => {
    const redis = await launchRedis();
    made.defer(() => redis.stop());
    return gateways(made, name, count, { REDIS_URL: redis.url });
  };
  print(`${subscribers} subscribers, ${rounds} events of ${DELIVERY_BYTES} bytes, in turns`);
  const groups = [await onRedis('one gateway', 1), await onRedis('three gateways', 3)];
  const [one, three] = await compare([DASHBOARD], subscribers, rounds, groups);
  print(`Of the time on one, three take: ${decimals((three?.ms ?? Number.NaN) / (one?.ms ?? Number.NaN))}`);
};
