import { expect } from 'vitest';
import type { Json } from '../../support/sandbox.ts';

/** What an index and an explorer say of one wallet, field by field. */

/** Where an explorer may say something else, and why. */
const DIFFERENCES = {
  'transactions that only move something of a wallet':
    'explorers list a transaction for its sender, its recipient and what it created',
  'the call of a transaction that is known by a transfer': 'the row of a transfer does not have it',
  'native currency within calls': 'it is in the internal transactions, which are not asked for',
  'calls in whose place the index knows more':
    'a call is an activity of who has no other: native currency within calls, and approvals',
  'approvals of contracts whose code the explorer does not know':
    'they are read from the call, where it tells an amount from an NFT',
  'equal ids of one batch': 'explorers add them up',
  'the order of transactions of one block': 'where one is that a transfer alone names is not said',
  'decoded calls and logs': 'explorers decode what they know the code of, and no logs of our simulated one',
  'when an NFT was acquired': 'it would be a request for each',
  'the coin of an account that is in no transaction': 'explorers know an account once it takes part in one',
  'the order of NFTs': 'explorers list them by their contracts',
  'when a holder got a token and whether it has sent it': 'it would be a request for each',
  'the order of equal holders':
    'explorers have the greatest address first, the index the one that it has seen first',
} as const;

type Difference = keyof typeof DIFFERENCES;

const used = new Set<Difference>();

/** The differences that were never met: they are none, or the test does not see them. */
export const unusedDifferences = (): readonly string[] =>
  Object.keys(DIFFERENCES).filter((name) => ![...used].some((each) => each === name));

type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];

const without = (row: Row, ...members: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !members.includes(name)));

const keyOf = (row: Row, ...members: readonly string[]): string =>
  members.map((member) => row[member]).join(' ');

/** Both without members that one of them lacks, which are differences. */
const leveled = (ours: Row, theirs: Row, members: Readonly<Record<string, Difference>>) => {
  const met = Object.keys(members).filter((name) => name in ours !== name in theirs);
  return {
    ours: without(ours, ...met),
    theirs: without(theirs, ...met),
    met: met.flatMap((name) => members[name] ?? []),
  };
};

const DECODED = { decoded: 'decoded calls and logs' } as const;

const leveledTransaction = (ours: Row, theirs: Row) => {
  const both = leveled(ours, theirs, DECODED);
  const [logs, others] = [ours.logs as Rows, theirs.logs as Rows];
  const pairs = logs.map((log, at) => leveled(log, others[at] ?? {}, DECODED));
  return {
    ours: { ...both.ours, logs: pairs.map((pair) => pair.ours) },
    theirs: {
      ...both.theirs,
      logs: others.length === logs.length ? pairs.map((pair) => pair.theirs) : others,
    },
    met: [...both.met, ...pairs.flatMap(({ met }) => met)],
  };
};

const note = (met: readonly Difference[]): void => {
  for (const each of met) used.add(each);
};

export const compareTransactions = (wallet: string, index: Rows, explorer: Rows): void => {
  const listed = new Set(explorer.map(({ hash }) => hash));
  const own = index.filter((row) => {
    const isSide = [row.from, row.to, row.created_contract].includes(wallet);
    if (!isSide && !listed.has(row.hash)) used.add('transactions that only move something of a wallet');
    return isSide || listed.has(row.hash);
  });
  expect(explorer.map(({ hash }) => hash)).toEqual(own.map(({ hash }) => hash));
  for (const [at, row] of own.entries()) {
    const { ours, theirs, met } = leveledTransaction(row, explorer[at] ?? {});
    expect(theirs).toEqual(ours);
    note(met);
  }
};

const CALL = 'the call of a transaction that is known by a transfer';
const ACTIVITY = { tx_from: CALL, tx_to: CALL, tx_value: CALL, function: 'decoded calls and logs' } as const;

const isSame = (ours: Row, theirs: Row): boolean => {
  const pair = leveled(ours, theirs, ACTIVITY);
  const is = JSON.stringify(sorted(pair.ours)) === JSON.stringify(sorted(pair.theirs));
  if (is) note(pair.met);
  return is;
};

const sorted = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Equal ids of a batch as explorers have them: one row with what all of them moved, where the first of them is. */
const summed = (rows: Rows): Rows => {
  const found = new Map<string, Row>();
  for (const [at, row] of rows.entries()) {
    const isBatch = row.asset_type === 'erc1155' && row.type !== 'approve';
    const key = isBatch ? keyOf(row, 'type', 'token_address', 'id', 'from', 'to') : String(at);
    const before = found.get(key);
    if (before !== undefined) used.add('equal ids of one batch');
    const value =
      before === undefined ? row.value : String(BigInt(String(before.value)) + BigInt(String(row.value)));
    found.set(key, { ...row, value });
  }
  return [...found.values()];
};

/** The activities of one transaction. */
const compareEffects = (index: Rows, explorer: Rows): void => {
  const ours = [...summed(index)];
  const others = explorer.filter((row) => {
    const at = ours.findIndex((each) => isSame(each, row));
    if (at !== -1) ours.splice(at, 1);
    return at === -1;
  });
  const missing = ours.filter((row) => {
    if (row.type === 'approve') used.add('approvals of contracts whose code the explorer does not know');
    else if (row.asset_type === 'native') used.add('native currency within calls');
    else return true;
    return false;
  });
  const unexplained = others.filter(({ type }) => {
    if (type !== 'call' || ours.length === 0) return true;
    used.add('calls in whose place the index knows more');
    return false;
  });
  expect({ missing, unexplained }).toEqual({ missing: [], unexplained: [] });
};

const runsOf = (rows: Rows, member: string): readonly unknown[] =>
  rows.map((row) => row[member]).filter((value, at, all) => value !== all[at - 1]);

export const compareActivity = (index: Rows, explorer: Rows): void => {
  const byHash = Map.groupBy(explorer, ({ tx_hash }) => tx_hash);
  const ours = Map.groupBy(index, ({ tx_hash }) => tx_hash);
  for (const hash of new Set([...ours.keys(), ...byHash.keys()]))
    compareEffects(ours.get(hash) ?? [], byHash.get(hash) ?? []);
  // Each block, and each transaction in it, comes once, the newest block first.
  const blocks = runsOf(explorer, 'block_number').map(Number);
  expect(blocks).toEqual([...new Set(blocks)].sort((one, other) => other - one));
  const hashes = runsOf(explorer, 'tx_hash');
  expect(hashes).toHaveLength(byHash.size);
  const common = runsOf(index, 'tx_hash').filter((hash) => byHash.has(hash));
  if (JSON.stringify(common) === JSON.stringify(hashes)) return;
  used.add('the order of transactions of one block');
  const called = (all: readonly unknown[]) =>
    all.filter((hash) => byHash.get(hash)?.[0]?.tx_from !== undefined);
  expect(called(hashes)).toEqual(called(common));
};

export const compareBalances = (index: Rows, explorer: Rows, isInAny: boolean): void => {
  const isKnown = isInAny || explorer.length > 0 || index.length === 0;
  if (!isKnown) used.add('the coin of an account that is in no transaction');
  expect(explorer).toEqual(isKnown ? index : index.filter(({ address }) => address !== 'native'));
};

export const compareCollectibles = (index: Rows, explorer: Rows): void => {
  const placeOf = (row: Row) => keyOf(row, 'contract_address', 'token_id');
  const inOrder = (rows: Rows) => rows.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  if (index.map(placeOf).join() !== explorer.map(placeOf).join()) used.add('the order of NFTs');
  if (index.length > 0) used.add('when an NFT was acquired');
  expect(inOrder(explorer)).toEqual(inOrder(index).map((row) => without(row, 'last_acquired')));
};

export const compareHolders = (index: Rows, explorer: Rows): void => {
  const said = index.map((row) => without(row, 'first_acquired', 'has_initiated_transfer'));
  if (said.length > 0) used.add('when a holder got a token and whether it has sent it');
  const amounts = explorer.map(({ balance }) => balance);
  expect(amounts).toEqual(said.map(({ balance }) => balance));
  const text = (rows: Rows) => rows.map((row) => JSON.stringify(sorted(row)));
  if (new Set(amounts).size < amounts.length) used.add('the order of equal holders');
  expect(text(explorer).toSorted()).toEqual(text(said).toSorted());
};

/** What a filter leaves of a list. */
export const filtered = (rows: Rows, filter: { readonly [member: string]: string }): Rows =>
  rows.filter((row) => Object.entries(filter).every(([member, value]) => row[member] === value));

/** Whether a list with a filter is what it leaves of the whole one. NFTs that move are asked for without their transactions. */
export const compareFiltered = (whole: Rows, rows: Rows): void => {
  const bare = (row: Row) => JSON.stringify(sorted(without(row, ...Object.keys(ACTIVITY))));
  const inBlocks = (all: Rows) => all.map((row) => `${row.block_number} ${bare(row)}`).toSorted();
  expect(inBlocks(rows)).toEqual(inBlocks(whole));
  for (const { type, ...row } of rows as readonly Json[])
    if (row.tx_from === undefined && type !== 'call') used.add(CALL);
};
