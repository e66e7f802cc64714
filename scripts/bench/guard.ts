import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { deliveriesOf } from '../../test/support/clients/deliver.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { decimals, median, print, tableOf } from '../harness/figures.ts';
import { type Helper, startHelper } from '../harness/processes.ts';
import { deliveryOf, deliveryTo } from './delivery.ts';
import { FILTERED } from './fanout.ts';
import type { Published, Question } from './fanout-load.ts';
import { baseOf, checkOut, ROOT, startGateway, titleOf } from './guard/checkouts.ts';
import {
  answering,
  type Cost,
  type Measured,
  measureInTurns,
  roundsIn,
  TURNS,
  underLoad,
  WARM_UP_TURNS,
} from './guard/turns.ts';
import { judge } from './guard/verdict.ts';
import { BLOCK_TRANSACTIONS } from './indexing/chain.ts';
import type { Handled } from './indexing/worker.ts';
import { chooseCores, type Server } from './lookups/subjects.ts';
import { WORKLOADS } from './lookups/workloads.ts';
import { namesIn } from './lookups.ts';

const INGEST_IN_FLIGHT = 64;
const SUBSCRIBERS = 1000;
/** Of a turn. */
const BLOCKS = 5;

/** One of the two that are compared, in a round: its processes are new, and end with `made`. */
type Side = {
  /** The folder of the checkout. */
  readonly root: string;
  readonly made: AsyncDisposableStack;
  readonly server: Server;
  readonly load: Helper;
  /** Of a node of a made-up chain. */
  readonly nodeUrl: string;
  readonly cores: ReturnType<typeof chooseCores>;
};

type Case = {
  readonly name: string;
  readonly unit: string;
  readonly open: (side: Side) => Promise<Measured>;
};

/** Each request asks for another wallet. */
const lookups: readonly Case[] = WORKLOADS.filter(({ name }) => ['W1', 'W2', 'W5'].includes(name)).map(
  (workload) => ({
    name: workload.name,
    unit: workload.title,
    open: async ({ server, load }) => answering(workload, server, load),
  }),
);

const pathOf = async ({ port }: Server): Promise<string> =>
  new URL((await deliveriesOf(`http://127.0.0.1:${port}`)).deliveryUrl).pathname;

const ingest: Case = {
  name: 'ingest',
  unit: 'a delivery stored',
  open: async ({ server, load }) => {
    const task = { templates: [deliveryTo(await pathOf(server))], connections: INGEST_IN_FLIGHT };
    return underLoad(server, load, task, () => null);
  },
};

/** Beyond those that the load of `ingest` sends: a repeat is not published. */
let nextEvent = 1_000_000_000;

const fanout: Case = {
  name: 'fanout',
  unit: 'an event to a subscriber',
  open: async ({ server, made, cores }) => {
    const load = made.use(startHelper(new URL('fanout-load.ts', import.meta.url), cores.load));
    const ask = <Answer>(question: Question) => load.ask<Answer>(question);
    const [url, path] = [`http://127.0.0.1:${server.port}`, await pathOf(server)];
    await ask({ ask: 'subscribe', urls: [url], operations: FILTERED, count: SUBSCRIBERS });
    return {
      pid: server.pid,
      turn: async () => {
        const body = String(deliveryOf(nextEvent++).body);
        if ((await ask<Published | null>({ ask: 'publish', url, path, body })) === null)
          throw new Error(`Expected all ${SUBSCRIBERS} subscribers to get an event, got fewer.`);
        return SUBSCRIBERS;
      },
    };
  },
};

/** By the worker of each checkout, which may know other messages, or none: it is comparable when it handles what it is told to. */
const index: Case = {
  name: 'index',
  unit: 'a transaction indexed',
  open: async ({ root, made, nodeUrl, cores }) => {
    const program = pathToFileURL(join(root, 'scripts/bench/indexing/worker.ts'));
    const worker = made.use(startHelper(program, cores.server));
    const ask = (task: object) => worker.ask<Handled | true>(task).catch(() => null);
    const blocks = BLOCKS * (WARM_UP_TURNS + TURNS);
    let isComparable = (await ask({ do: 'open', url: nodeUrl, blocks })) === true;
    return {
      pid: worker.pid,
      turn: async () => {
        const handled = isComparable && (await ask({ do: 'index', blocks: BLOCKS }));
        const transactions = typeof handled === 'object' ? handled?.transactions : undefined;
        isComparable = transactions === BLOCKS * BLOCK_TRANSACTIONS;
        return isComparable ? BLOCKS * BLOCK_TRANSACTIONS : Number.NaN;
      },
    };
  },
};

const CASES: readonly Case[] = [...lookups, ingest, fanout, index];

const ratioOf = ([before, after]: readonly Cost[]): number =>
  (after?.cpuMicros ?? Number.NaN) / (before?.cpuMicros ?? Number.NaN);

/**
 * Whether the working tree costs more than the checkout it is compared with: its CPU time for an answer, not its rate, which
 * depends on what else the machine does. In each round both start anew, since no two processes of the same program cost
 * the same, and take turns in each case. Their ratio is one value; an interval of all rounds' decides. Ends with 1 when
 * something is worse.
 */
export const guard = async (args: readonly string[]): Promise<void> => {
  const string = { type: 'string' } as const;
  const options = { before: string, only: string, rounds: { ...string, default: '8' } };
  const { values } = parseArgs({ args: [...args], options });
  const rounds = roundsIn(values.rounds);
  const only = namesIn(
    '--only',
    values.only,
    CASES.map(({ name }) => name),
  );
  await using made = new AsyncDisposableStack();
  const commit = values.before === undefined ? baseOf() : null;
  const before = commit === null ? resolve(values.before ?? '') : await checkOut(commit, made);
  if (!existsSync(join(before, 'node_modules')))
    throw new Error(`--before: expected a checkout with its node_modules, got ${before}. Run npm ci there.`);
  const cores = chooseCores();
  const upstream = made.use(await spawnGateway({}, 'scripts/bench/lookups/upstream.ts', cores.upstream));
  const node = made.use(await spawnGateway({}, 'scripts/bench/indexing/node.ts', cores.load));
  const load = made.use(startHelper(new URL('load/load.ts', import.meta.url), cores.load));
  print(`before: ${commit === null ? before : titleOf(commit)}\nafter:  ${ROOT}`);

  const measured = CASES.filter(({ name }) => only.includes(name)).map((one) => ({
    one,
    costs: [] as (readonly Cost[])[],
  }));
  for (let round = 0; round < rounds; round += 1) {
    await using roundMade = new AsyncDisposableStack();
    const start = async (root: string): Promise<Side> => {
      const server = roundMade.use(await startGateway(root, upstream.url, cores.server));
      return { root, made: roundMade, server, load, nodeUrl: node.url, cores };
    };
    const sides = [await start(before), await start(ROOT)] as const;
    // What is not comparable stays so.
    for (const { one, costs } of measured)
      if (costs.every((cost) => Number.isFinite(ratioOf(cost))))
        costs.push(await measureInTurns(await Promise.all(sides.map(one.open))));
    const ratios = measured.map(({ one, costs }) => `${one.name} ${decimals(ratioOf(costs.at(-1) ?? []))}`);
    process.stderr.write(`round ${round + 1} of ${rounds}: ${ratios.join(', ')}\n`);
  }

  const verdicts = measured.map(({ one: { name, unit }, costs }) => {
    const { verdict, low, middle, high, confidence } = judge(costs.map(ratioOf));
    if (verdict === 'worse') process.exitCode = 1;
    const micros = (side: number) =>
      decimals(median(costs.map((cost) => cost[side]?.cpuMicros ?? Number.NaN)), 1);
    const interval = `${decimals(low)} to ${decimals(high)}`;
    const sure = `${decimals(100 * confidence, 1)} %`;
    return [`${name}: ${unit}`, micros(0), micros(1), decimals(middle), interval, sure, verdict];
  });
  print(
    tableOf([['CPU µs of', 'before', 'after', 'ratio', 'between', 'confidence', 'after is'], ...verdicts]),
  );
};
