import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { openDatabase } from '../../../../src/backend/indexer/database/database.ts';
import { Index } from '../../../../src/backend/indexer/database/store.ts';
import { Follower } from '../../../../src/backend/indexer/follower/follower.ts';
import type { Log } from '../../../../src/backend/indexer/follower/problems.ts';
import { Tracer } from '../../../../src/backend/indexer/follower/tracer.ts';
import { createNode } from '../../../../src/backend/node/node.ts';
import type { Block, Chain, Effect } from '../../../../src/backend/types.ts';
import { rpc } from './contracts.ts';
import { ROWS } from './histories.ts';

const chain = (id: number): Chain => ({
  id,
  name: `chain_${id}`,
  tags: ['default'],
  native: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  webhooks: true,
  unsupported: [],
});

type FollowedOptions = {
  readonly url: string;
  readonly chainId?: number;
  readonly startBlock?: number | null;
  /** A folder that outlives the follower. Default: one of its own. */
  readonly folder?: string;
  /** Called for each new block, within its transaction. */
  readonly onAdded?: (block: Block, database: DatabaseSync) => void;
};

export type Followed = Awaited<ReturnType<typeof follow>>;

/** A follower with an index, as the service has them, and a record of what its listener was told. */
export const follow = async ({
  url,
  chainId = 31_337,
  startBlock = null,
  onAdded,
  ...options
}: FollowedOptions) => {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'followed-')));
  const database = openDatabase(join(folder, 'index.sqlite'));
  const index = new Index({ database, chains: [chain(chainId)] });
  // The blocks that the listener knows, by what it was told: as its deliveries, they stand or fall with the change of the index.
  database.exec('CREATE TEMP TABLE told (number INTEGER PRIMARY KEY, hash TEXT NOT NULL)');
  const told = () =>
    database
      .prepare('SELECT number, hash FROM told ORDER BY number')
      .all()
      .map(({ number, hash }) => ({ number: Number(number), hash: String(hash) }));
  /** The transactions that the tracer announced, with what their calls moved. */
  const traced: { number: number; hash: string; effects: readonly Effect[] }[] = [];
  const lines: { message: string; details: Readonly<Record<string, unknown>> }[] = [];
  const nobody = async () => ({ watches: () => false, after: () => null });
  const node = createNode({ url, chainId, timeoutMs: 5_000, pollMs: 50 });
  const log: Log = (message, details) => lines.push({ message, details });
  const tracer: Tracer = new Tracer({
    ...{ node, index, balances: nobody, log, changed() {} },
    listener: {
      traced({ number, transactions }) {
        for (const { hash, effects } of transactions) traced.push({ number, hash, effects });
      },
    },
  });
  const follower = new Follower({
    ...{ node, index, startBlock, log, changed() {}, filled() {} },
    prepare: nobody,
    traces: () => tracer.status(),
    listener: {
      traced() {},
      added(block) {
        onAdded?.(block, database);
        const last = told().at(-1);
        if (last !== undefined) expect(block.number).toBe(last.number + 1);
        database.prepare('INSERT INTO told VALUES (?, ?)').run(block.number, block.hash);
        tracer.wake();
      },
      removed(_chainId, from) {
        tracer.forget(from);
        database.prepare('DELETE FROM told WHERE number >= ?').run(from);
      },
    },
  });
  follower.start();
  tracer.start();
  return {
    index,
    database,
    folder,
    follower,
    get told() {
      return told();
    },
    traced,
    lines,
    traces: () => tracer.status(),
    problem: () => follower.status().problem,
    /** Resolves when the index is at the node's head, with all older blocks that it is to have, and their traces. */
    async caughtUp({ from = url, isTraced = true } = {}): Promise<void> {
      await expect
        .poll(async () => {
          const range = index.range(chainId);
          const head = (await rpc(from, 'eth_getBlockByNumber', 'latest', false)) as { hash: string };
          const isWhole =
            range !== null && range.head.hash === head.hash && range.lowest.number === range.from;
          return isWhole && (!isTraced || index.untraced.count(chainId) === 0);
        })
        .toBe(true);
    },
    contents: () => contentsOf(database),
    async [Symbol.asyncDispose]() {
      await follower.stop();
      await tracer.stop();
      database.close();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};

const shown = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'bigint' ? `${value}` : value;
};

/** Everything that an index has of its chains, to be compared. */
export const contentsOf = (database: DatabaseSync): readonly (readonly string[])[] =>
  Object.values(ROWS).map((query) => {
    const statement = database.prepare(query);
    statement.setReadBigInts(true);
    return statement
      .all()
      .map(({ account: _, ...row }) => JSON.stringify(Object.values(row).map(shown)))
      .sort();
  });
