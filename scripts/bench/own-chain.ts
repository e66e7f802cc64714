import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { decimals, median, print, tableOf, whole } from '../harness/figures.ts';
import { measureCpu, startHelper } from '../harness/processes.ts';
import { BLOCK_TRANSACTIONS, busyAccounts, CHAIN_ID } from './indexing/chain.ts';
import type { Load, LoadTask } from './load/load.ts';
import { chooseCores } from './lookups/subjects.ts';

const newest = (first: number): string =>
  `query ($address: Address!) {
    wallet(address: $address) {
      transactions(first: ${first}) { nodes { hash blockTime from to value } pageInfo { hasNextPage endCursor } }
    }
  }`;

/** What is asked for, of busy accounts in turns. */
const ASKED: readonly (readonly [name: string, query: string])[] = [
  ['nothing: { __typename }', '{ __typename }'],
  ['the newest 20 transactions', newest(20)],
  ['the newest 100 transactions', newest(100)],
];
const CONNECTIONS = 4;
const WARM_UP_MS = 4_000;
const ROUNDS = 3;

type Round = Pick<Load, 'rate' | 'p50Ms' | 'p99Ms'> & { readonly cpuMs: number };

/**
 * What a cold lookup costs over a chain of one's own: of a gateway that embeds its index, as it is shipped, with its index in a
 * thread. `CPU ms` is that of all threads of the process, for an answer.
 */
export const measureOwnChain = async (args: readonly string[]): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      transactions: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '3' },
    },
  });
  const blocks = Math.ceil(Number(values.transactions) / BLOCK_TRANSACTIONS);
  if (!(blocks > 0)) throw new Error(`--transactions: expected a number above 0, got ${values.transactions}`);
  const ms = Number(values.seconds) * 1000;
  if (!(ms > 0)) throw new Error(`--seconds: expected a number above 0, got ${values.seconds}`);
  const cores = chooseCores();
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-own-chain-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const node = made.use(
    await spawnGateway({ HEAD: String(blocks) }, 'scripts/bench/indexing/node.ts', cores.load),
  );
  const gateway = made.use(
    await spawnGateway(
      { CHAINS: `${CHAIN_ID}=${node.url}`, DATA_DIR: folder, CACHE_MAX_MB: '0' },
      'src/main.ts',
      cores.server,
    ),
  );
  const progress = `{ chain(chainId: ${CHAIN_ID}) { index { from } } }`;
  const indexedFrom = async () =>
    (await gateway.data<{ chain: { index: { from: string | null } | null } }>(progress)).chain.index?.from;
  while ((await indexedFrom()) !== '0') await sleep(500);
  const helper = made.use(startHelper(new URL('load/load.ts', import.meta.url), cores.load));

  const loads = ASKED.map(([name, query]) => {
    const templates = busyAccounts.map((address) => ({
      path: '/graphql',
      body: JSON.stringify({ query, variables: { address } }),
    }));
    const task = { port: Number(new URL(gateway.url).port), templates, connections: CONNECTIONS };
    return { name, task, rounds: [] as Round[] };
  });
  for (const { task } of loads) await helper.ask<Load>({ ...task, ms: WARM_UP_MS });
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { name, task, rounds } of loads) {
      const { answer, cpuMs } = await measureCpu([gateway.child.pid ?? 0], () =>
        helper.ask<Load>({ ...task, ms } satisfies LoadTask),
      );
      if (answer.failure !== null) throw new Error(`${name}: ${answer.failure}`);
      rounds.push({ ...answer, cpuMs: (cpuMs[0] ?? 0) / answer.count });
    }
  const rows = loads.map(({ name, rounds }) => {
    const middle = (of: (round: Round) => number) => median(rounds.map(of));
    const times = [middle(({ p50Ms }) => p50Ms), middle(({ p99Ms }) => p99Ms), middle(({ cpuMs }) => cpuMs)];
    return [name, whole(middle(({ rate }) => rate)), ...times.map((each) => decimals(each))];
  });
  print(`${whole(blocks * BLOCK_TRANSACTIONS)} transactions, ${CONNECTIONS} requests in flight:`);
  print(tableOf([["over a chain of one's own", 'answers a s', 'p50 ms', 'p99 ms', 'CPU ms'], ...rows]));
};
