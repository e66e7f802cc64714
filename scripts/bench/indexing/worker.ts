// Fetches and indexes the blocks of a node, and reads from the index: takes a Task, answers with figures.
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { effectsOf, parseBlock } from '../../../src/backend/indexer/blocks/parse.ts';
import { byStandard } from '../../../src/backend/indexer/blocks/readings.ts';
import { openDatabase } from '../../../src/backend/indexer/database/database.ts';
import { Index } from '../../../src/backend/indexer/database/store.ts';
import { BATCH_TRANSACTIONS } from '../../../src/backend/indexer/follower/follower.ts';
import { Prefetch } from '../../../src/backend/indexer/follower/prefetch.ts';
import { IndexedData } from '../../../src/backend/indexer/queries/data.ts';
import { createNode } from '../../../src/backend/node/node.ts';
import type { Chain, Hex } from '../../../src/backend/types.ts';
import { Times, type TimesSummary } from '../../harness/figures.ts';
import { answerParent } from '../../harness/processes.ts';
import { busyAccounts, CHAIN_ID, popularCoins, quietAccounts } from './chain.ts';

export type Task =
  /** The index begins at its newest block, and goes down to the first one. */
  | { readonly do: 'open'; readonly url: string; readonly blocks: number }
  /** Handles the next older blocks, which `index` stores and `parse` forgets. */
  | { readonly do: 'parse' | 'index'; readonly blocks: number }
  /** Takes a copy of another process' file as its own, and lists the holders of all tokens. */
  | { readonly do: 'copy'; readonly path: string }
  | { readonly do: 'look up'; readonly times: number }
  | { readonly do: 'measure' };

export type Handled = { readonly transactions: number; readonly ms: number; readonly cpuMs: number };
export type LookedUp = Readonly<Record<string, TimesSummary>>;
export type Measured = {
  readonly path: string;
  readonly bytes: number;
  readonly tables: Readonly<Record<string, number>>;
  /** Of the process, the most that it held so far. */
  readonly memoryBytes: number;
};

const CHAIN: Chain = {
  ...{ id: CHAIN_ID, name: 'made_up', tags: ['default'], webhooks: true, unsupported: [] },
  native: { symbol: 'ETH', name: 'Ether', decimals: 18 },
};
const CONTRACTS = {
  contract: () =>
    ({ standard: 'erc20', name: 'Coin', symbol: 'COIN', decimals: 18, isPending: false }) as const,
  token: (_: number, address: Hex) =>
    ({ chain: CHAIN, address, standard: 'erc20', name: 'Coin', symbol: 'COIN', decimals: 18 }) as const,
  tokens: () => [],
  isOpen: () => false,
  mayHaveOtherNfts: () => false,
  readings: (_: number, address: Hex) => byStandard(address),
};
const NODE = { balances: async () => [1n], calls: () => [] };

const directory = mkdtempSync(join(tmpdir(), 'bench-indexing-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const path = join(directory, 'index.db');
const openIndex = () => {
  const database = openDatabase(path);
  const index = new Index({ database, chains: [CHAIN] });
  const data = new IndexedData({
    database,
    index,
    chains: [CHAIN],
    nodes: new Map([[CHAIN_ID, NODE]]),
    contracts: CONTRACTS,
    metadata: { async meet() {} },
    differing: {
      has: () => false,
      behind: () => [],
      new: () => [],
      agrees() {},
      note() {},
      async settled() {},
    },
  });
  return { database, index, data };
};
let made: ReturnType<typeof openIndex> | undefined;
const opened = () => {
  made ??= openIndex();
  return made;
};

let node: ReturnType<typeof createNode> | undefined;
let next = 0;

const handle = async (task: 'parse' | 'index', blocks: number): Promise<Handled> => {
  const { index } = opened();
  const prefetch = new Prefetch(async (number) => {
    const fetched = await node?.block(number);
    if (fetched === null || fetched === undefined) throw new Error(`expected block ${number}, got none`);
    return fetched;
  });
  let [at, transactions] = [next, 0];
  const last = Math.max(0, at - blocks + 1);
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  while (at >= last) {
    const fetched = await prefetch.take(at, last, BATCH_TRANSACTIONS);
    const parsed = fetched.map((block) => parseBlock(CHAIN_ID, block));
    transactions += parsed.reduce((sum, block) => sum + block.transactions.length, 0);
    at -= parsed.length;
    if (task === 'parse') for (const block of parsed) block.transactions.map((each) => effectsOf(each));
    else {
      index.prepend(parsed);
      while (!index.writes.keepSome()) await yieldToEvents();
    }
  }
  if (task === 'index') {
    index.writes.keep();
    next = at;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { transactions, ms: performance.now() - started, cpuMs: (user + system) / 1000 };
};

const listCopy = async (of: string): Promise<Handled> => {
  copyFileSync(of, path);
  const { index } = opened();
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  while (!index.list(CHAIN_ID)) await yieldToEvents();
  const { user, system } = process.cpuUsage(cpu);
  return { transactions: 0, ms: performance.now() - started, cpuMs: (user + system) / 1000 };
};

const chains = new Set([CHAIN_ID]);
type Lookups = Readonly<Record<string, (account: Hex, coin: Hex) => unknown>>;
const lookupsOf = ({ data }: ReturnType<typeof openIndex>): Lookups => ({
  '100 transactions': (account) => data.transactions(account, chains, 100, null),
  '200 transactions with effects': (account) =>
    data.effects(account, chains, 200, null).items.map(({ transaction }) => transaction.effects),
  '1,000 balances': (account) => data.balances(account, chains, { after: null, limit: 1_000 }),
  '250 collectibles': (account) => data.holdings(account, chains, { after: null, limit: 250 }),
  '500 holders': (_, coin) => data.holders(CHAIN_ID, coin, { after: null, limit: 500 }),
  'a supply': (_, coin) => data.supply(CHAIN_ID, coin),
});

const lookUp = async (times: number): Promise<LookedUp> => {
  const results: Record<string, TimesSummary> = {};
  for (const [name, look] of Object.entries(lookupsOf(opened())))
    for (const [kind, accounts] of Object.entries({ busy: busyAccounts, quiet: quietAccounts })) {
      const summary = new Times();
      for (let at = 0; at < times; at += 1) {
        const [account = '0x', coin = '0x'] = [
          accounts[at % accounts.length],
          popularCoins[at % popularCoins.length],
        ];
        const started = performance.now();
        await look(account, coin);
        summary.add(performance.now() - started);
      }
      results[`${name}, ${kind}`] = summary.summary();
    }
  return results;
};

const measure = (): Measured => {
  const { database } = opened();
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const rows = database.prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name').all();
  return {
    path,
    memoryBytes: process.resourceUsage().maxRSS * 1024,
    bytes: statSync(path).size,
    tables: Object.fromEntries(rows.map(({ name, bytes }) => [String(name), Number(bytes)])),
  };
};

const open = async (url: string, blocks: number): Promise<boolean> => {
  node = createNode({ url, chainId: CHAIN_ID });
  const newest = await node.block(blocks);
  if (newest === null) throw new Error(`expected block ${blocks}, got none`);
  const nobody = { watches: () => false, after: () => null };
  opened().index.append(parseBlock(CHAIN_ID, newest), null, nobody, 0);
  next = blocks - 1;
  return true;
};

answerParent((task: Task) => {
  if (task.do === 'look up') return lookUp(task.times);
  if (task.do === 'measure') return measure();
  if (task.do === 'copy') return listCopy(task.path);
  if (task.do !== 'open') return handle(task.do, task.blocks);
  return open(task.url, task.blocks);
});
