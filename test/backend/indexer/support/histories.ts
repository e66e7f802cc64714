import type { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import type { Balances } from '../../../../src/backend/indexer/blocks/balances.ts';
import type { ParsedBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import type { Readings } from '../../../../src/backend/indexer/blocks/readings.ts';
import { openDatabase } from '../../../../src/backend/indexer/database/database.ts';
import { Index } from '../../../../src/backend/indexer/database/store.ts';
import type { Chain, Hex, LogEntry } from '../../../../src/backend/types.ts';
import { address, GENESIS, logs, type Mined, tracedBlock, ZERO } from './blocks.ts';

/** Random histories of chains, and an index in memory to add them to. */

const chainOf = (id: number): Chain => ({
  ...{ id, name: `chain_${id}`, tags: ['default'], webhooks: true, unsupported: [] },
  native: { symbol: 'ETH', name: 'Ether', decimals: 18 },
});

export const CHAIN = chainOf(31337);
export const OTHER_CHAIN = chainOf(11297108109);
export const CHAINS = [CHAIN, OTHER_CHAIN];

export const NOBODY: Balances = { watches: () => false, after: () => null };

export const openIndex = (readings?: (chainId: number, contract: Hex) => Readings, rereads?: number) => {
  const database = openDatabase(':memory:');
  const options = { ...(readings && { readings }), ...(rereads && { rereads }) };
  return { database, index: new Index({ database, chains: CHAINS, ...options }) };
};

/** Lists all holders of a chain's tokens, in many turns. */
export const listAll = (index: Index, chainId: number): void => {
  while (!index.list(chainId, 2));
};

/** They take part in everything. */
export const ACCOUNTS = ['alice', 'bob', 'carol'].map(address);
const account = fc.constantFrom(...ACCOUNTS);
const side = fc.constantFrom(...ACCOUNTS, ZERO);
export const TOKENS = ['one', 'other'].map(address);
const token = fc.constantFrom(...TOKENS);
const id = fc.constantFrom(0n, 1n, 2n ** 256n - 1n);
const value = fc.constantFrom(0n, 1n, 5n, 300n, 2n ** 64n, 2n ** 256n - 1n);

const log: fc.Arbitrary<LogEntry> = fc.oneof(
  fc.tuple(token, side, side, value).map((parts) => logs.coin(...parts)),
  fc.tuple(token, side, side, id).map((parts) => logs.unique(...parts)),
  fc.tuple(token, side, side, id, value).map((parts) => logs.single(...parts)),
  fc
    .tuple(token, side, side, fc.array(fc.tuple(id, value), { maxLength: 3 }))
    .map((parts) => logs.batch(...parts)),
  fc.tuple(token, side, side, id).map((parts) => logs.plain(...parts)),
  fc.tuple(token, side, side).map((parts) => logs.range(...parts, 0n, 1n)),
  fc.tuple(token, account, account, value).map((parts) => logs.approval(...parts)),
  fc
    .tuple(fc.constantFrom('deposit' as const, 'withdrawal' as const), token, account, value)
    .map((parts) => logs.wrapping(...parts)),
);

const mined: fc.Arbitrary<Mined> = fc.record(
  {
    from: account,
    to: fc.option(side),
    created: fc.constant(address('created')),
    value,
    success: fc.constantFrom(true, true, true, false),
    logs: fc.array(log, { maxLength: 4 }),
    internal: fc.array(fc.record({ from: account, to: account, value }), { maxLength: 1 }),
  },
  { requiredKeys: ['from'] },
);

/** What makes a block on any parent: how much later it is than it, in seconds, and its transactions. */
export const content = fc.tuple(fc.nat(2), fc.array(mined, { maxLength: 3 }));
export type Content = typeof content extends fc.Arbitrary<infer Value> ? Value : never;

export const build = (
  chainId: number,
  parent: ParsedBlock | null,
  [later, transactions]: Content,
): ParsedBlock =>
  tracedBlock(chainId, parent ?? GENESIS, (parent?.time ?? 1_700_000_000_000) + later * 1000, transactions);

export const buildAll = (chainId: number, contents: readonly Content[]): readonly ParsedBlock[] => {
  const blocks: ParsedBlock[] = [];
  for (const each of contents) blocks.push(build(chainId, blocks.at(-1) ?? null, each));
  return blocks;
};

/** What the tables of chains have, with addresses in the place of the numbers that stand for them, and once holders are listed. */
export const ROWS = {
  blocks: 'SELECT * FROM blocks',
  transactions: 'SELECT * FROM transactions',
  by_account:
    'SELECT address, by_account.id FROM by_account JOIN accounts ON accounts.id = by_account.account',
  holdings: `SELECT address, slot, standard, token, token_id, amount, time, receipts, sends
    FROM holdings JOIN accounts ON accounts.id = holdings.account`,
  untraced: 'SELECT * FROM untraced',
};

const ALL_ROWS = {
  ...ROWS,
  listed: 'SELECT listed, count(*) FROM holdings GROUP BY listed',
  chains: 'SELECT * FROM chains',
  unsettled: 'SELECT * FROM unsettled',
  revisions: 'SELECT * FROM revisions',
};

/** Everything that the tables of the index hold, as text. */
export const contents = (database: DatabaseSync): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(ALL_ROWS).map(([table, query]) => {
      const rows = database
        .prepare(query)
        .all()
        .map(({ account: _, ...row }) => row)
        .map((row) =>
          Object.values(row)
            .map((value) =>
              value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value),
            )
            .join(' '),
        );
      return [table, rows.toSorted()];
    }),
  );
