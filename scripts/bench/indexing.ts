import { parseArgs } from 'node:util';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { decimals, median, print, sum, tableOf, whole } from '../harness/figures.ts';
import { startHelper } from '../harness/processes.ts';
import { BLOCK_TRANSACTIONS, TRANSACTION_LOGS } from './indexing/chain.ts';
import type { Handled, LookedUp, Measured, Task } from './indexing/worker.ts';
import { chooseCores } from './lookups/subjects.ts';

const ROUNDS = 10;
/** A round only fetches and parses a part of the blocks that it then indexes. */
const PARSED_PART = 0.2;
const LOOKUPS = 2_000;

const rate = (handled: Handled) => (handled.transactions / handled.ms) * 1000;
const rateOfCore = (handled: Handled) => (handled.transactions / handled.cpuMs) * 1000;

/**
 * How many transactions a second one process indexes, beside what it only fetches and parses; how large the index becomes;
 * and how long its lookups take. A made-up node in a process of its own answers over HTTP on loopback. Both kinds of work
 * take turns while the index grows, over the code that the service follows a chain with.
 */
export const measureIndexing = async (args: readonly string[]): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: { transactions: { type: 'string', default: '1000000' } },
  });
  const blocks = Math.ceil(Number(values.transactions) / BLOCK_TRANSACTIONS / ROUNDS);
  if (!(blocks > 0)) throw new Error(`--transactions: expected a number above 0, got ${values.transactions}`);
  const cores = chooseCores();
  await using made = new AsyncDisposableStack();
  const node = made.use(await spawnGateway({}, 'scripts/bench/indexing/node.ts', cores.load));
  const worker = made.use(startHelper(new URL('indexing/worker.ts', import.meta.url), cores.server));
  const ask = <Answer>(task: Task) => worker.ask<Answer>(task);
  await ask({ do: 'open', url: node.url });
  await ask({ do: 'parse', blocks: 20 });

  const rounds: { readonly parsed: Handled; readonly indexed: Handled }[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({
      parsed: await ask({ do: 'parse', blocks: Math.ceil(blocks * PARSED_PART) }),
      indexed: await ask({ do: 'index', blocks }),
    });
  const transactions = sum(rounds.map(({ indexed }) => indexed.transactions));
  const lookedUp = await ask<LookedUp>({ do: 'look up', times: LOOKUPS });
  const { bytes, tables } = await ask<Measured>({ do: 'measure' });

  print(
    `Blocks of ${BLOCK_TRANSACTIONS} transactions with ${TRANSACTION_LOGS} logs, ${whole(transactions)} transactions in all:`,
  );
  const rows = rounds.map(({ parsed, indexed }, at) => [
    whole(sum(rounds.slice(0, at + 1).map((round) => round.indexed.transactions))),
    ...[rate(parsed), rateOfCore(parsed), rate(indexed), rateOfCore(indexed)].map(whole),
    decimals(rate(indexed) / rate(parsed)),
    decimals(rateOfCore(indexed) / rateOfCore(parsed)),
  ]);
  const middle = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of));
  const medians = [
    whole(middle(({ parsed }) => rate(parsed))),
    whole(middle(({ parsed }) => rateOfCore(parsed))),
    whole(middle(({ indexed }) => rate(indexed))),
    whole(middle(({ indexed }) => rateOfCore(indexed))),
    decimals(middle(({ parsed, indexed }) => rate(indexed) / rate(parsed))),
    decimals(middle(({ parsed, indexed }) => rateOfCore(indexed) / rateOfCore(parsed))),
  ];
  print(
    tableOf([
      [
        'transactions',
        'fetched and parsed a s',
        'a s of CPU',
        'indexed a s',
        'a s of CPU',
        'ratio',
        'of CPU',
      ],
      ...rows,
      ['median', ...medians],
    ]),
  );
  print(
    `\n${tableOf([
      ['lookup, in ms', 'p50', 'p99', 'max'],
      ...Object.entries(lookedUp).map(([name, { p50Ms, p99Ms, maxMs }]) => [
        name,
        decimals(p50Ms, 3),
        decimals(p99Ms, 3),
        decimals(maxMs, 3),
      ]),
    ])}`,
  );
  print(`\n${whole(bytes / transactions)} bytes a transaction:`);
  print(
    tableOf([
      ['', 'bytes'],
      ...Object.entries(tables).map(([name, size]) => [name, decimals(size / transactions, 1)]),
    ]),
  );
};
