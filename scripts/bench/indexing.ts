import { parseArgs } from 'node:util';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { decimals, median, print, sum, tableOf, whole } from '../harness/figures.ts';
import { startHelper } from '../harness/processes.ts';
import { BLOCK_TRANSACTIONS, TRANSACTION_LOGS } from './indexing/chain.ts';
import type { Handled, LookedUp, Measured, Task } from './indexing/worker.ts';
import { chooseCores } from './lookups/subjects.ts';

/** Where rounds end, as parts of all transactions; lookups are measured at the LOOKED_AT of them. */
const ROUNDS = [0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 1];
const LOOKED_AT = [0.01, 0.1, 1];
/** A round only fetches and parses a part of the blocks that it then indexes. */
const PARSED_PART = 0.2;
const LOOKUPS = 500;
/** The environment in which the gateway is shipped. */
const SHIPPED = ['env', 'MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=65536'];

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
  const blocks = Math.ceil(Number(values.transactions) / BLOCK_TRANSACTIONS);
  if (!(blocks > 0)) throw new Error(`--transactions: expected a number above 0, got ${values.transactions}`);
  const cores = chooseCores();
  await using made = new AsyncDisposableStack();
  const node = made.use(await spawnGateway({}, 'scripts/bench/indexing/node.ts', cores.load));
  const startWorker = () =>
    startHelper(new URL('indexing/worker.ts', import.meta.url), [...SHIPPED, ...cores.server]);
  const worker = made.use(startWorker());
  const ask = <Answer>(task: Task) => worker.ask<Answer>(task);
  await ask({ do: 'open', url: node.url, blocks });
  await ask({ do: 'parse', blocks: 20 });

  const rounds: { readonly parsed: Handled; readonly indexed: Handled }[] = [];
  /** Of a copy on which all holders are listed, as they are behind the last of older blocks: the index goes on without. */
  const copies: { readonly listed: Handled; readonly lookedUp: LookedUp; readonly measured: Measured }[] = [];
  let done = 0;
  for (const part of ROUNDS) {
    const end = Math.max(done + 1, Math.round(blocks * part));
    rounds.push({
      parsed: await ask({ do: 'parse', blocks: Math.ceil((end - done) * PARSED_PART) }),
      indexed: await ask({ do: 'index', blocks: end - done }),
    });
    done = end;
    if (!LOOKED_AT.includes(part)) continue;
    const { path } = await ask<Measured>({ do: 'measure' });
    using reader = startWorker();
    copies.push({
      listed: await reader.ask({ do: 'copy', path }),
      lookedUp: await reader.ask({ do: 'look up', times: LOOKUPS }),
      measured: await reader.ask({ do: 'measure' }),
    });
  }
  const transactions = sum(rounds.map(({ indexed }) => indexed.transactions));
  const { memoryBytes } = await ask<Measured>({ do: 'measure' });
  const { listed = { ms: 0, cpuMs: 0 }, measured = { bytes: 0, tables: {} } } = copies.at(-1) ?? {};

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
  const sizes = LOOKED_AT.map((part) => whole(transactions * part));
  const times = Object.keys(copies[0]?.lookedUp ?? {}).map((name) => [
    name,
    ...copies.flatMap(({ lookedUp: { [name]: found } }) => [
      decimals(found?.p50Ms ?? 0, 3),
      decimals(found?.p99Ms ?? 0, 3),
    ]),
  ]);
  print(
    `\n${tableOf([['lookup, in ms, at', ...sizes.flatMap((size) => [`${size}, p50`, 'p99'])], ...times])}`,
  );
  print(
    `\nListing all holders takes ${decimals(listed.ms / 1000)} s behind the last of older blocks, of which ${decimals(listed.cpuMs / 1000)} s of CPU.`,
  );
  print(
    `\n${whole(measured.bytes / transactions)} bytes a transaction, and the process held at most ${whole(memoryBytes / 2 ** 20)} MiB:`,
  );
  print(
    tableOf([
      ['', 'bytes'],
      ...Object.entries(measured.tables).map(([name, size]) => [name, decimals(size / transactions, 1)]),
    ]),
  );
};
