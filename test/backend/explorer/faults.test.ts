import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Contents } from '../../support/blockscout/contents.ts';
import { madeUp, TOKEN, WALLET } from '../../support/blockscout/made-up.ts';
import { isFull, runs } from '../../support/runs.ts';
import { hashOf } from '../indexer/support/blocks.ts';
import type { Json } from '../support/sandbox.ts';
import { openExplored } from './support/exploring.ts';
import { faults, firstPageAgain, isOfOrder, pendingFirst } from './support/faults.ts';

/**
 * Every lookup, with one answer of the explorer that is something else than the truth: what comes then is an error or a warning that
 * names the chain, or what the truth would have given, though without what the explorer no longer says.
 */

const SIZES = { transactions: 24, pending: 2, transfers: 60, tokens: 15, nfts: 15, holders: 15, logs: 4 };
const made = madeUp(SIZES);
const CONTENTS: Contents = {
  ...made,
  // Nothing moves in a transaction that failed.
  transfers: made.transfers.filter(({ transaction }) => transaction.status === 'ok'),
  // What explorers have in one order or another is none of the client's business.
  holdings: made.holdings.map((holding, at) =>
    holding.token === TOKEN ? { ...holding, value: BigInt(1_000 - at) } : holding,
  ),
};

type Lookup = {
  readonly path: string;
  /** The list in its answer; null for a bare list. */
  readonly member: string | null;
  /** What a row can't be without. */
  readonly keys: readonly string[];
  readonly isPaged?: boolean;
  /** Whether its order is whatever the explorer has, so that no other one is wrong. */
  readonly isUnordered?: boolean;
};

const SENT = ['hash', 'block_number', 'block_time', 'index', 'from', 'value', 'data', 'nonce'];
const HELD = ['address', 'amount', 'chain_id'];

const LOOKUPS: readonly Lookup[] = [
  {
    path: `transactions/${WALLET}?logs=false&block_hash=false`,
    member: 'transactions',
    keys: SENT,
    isPaged: true,
  },
  {
    path: `transactions/${WALLET}?decode=true`,
    member: 'transactions',
    keys: [...SENT, 'block_hash', 'logs'],
    isPaged: true,
  },
  {
    path: `activity/${WALLET}?`,
    member: 'activity',
    keys: ['type', 'block_number', 'block_time', 'tx_hash'],
    isPaged: true,
  },
  {
    path: `activity/${WALLET}?activity_type=send,receive,mint&asset_type=erc1155`,
    member: 'activity',
    keys: ['type', 'value', 'id', 'tx_hash'],
    isPaged: true,
  },
  {
    path: `activity/${WALLET}?asset_type=erc20`,
    member: 'activity',
    keys: ['type', 'value', 'token_address', 'tx_hash'],
    isPaged: true,
  },
  { path: `balances/${WALLET}?`, member: 'balances', keys: HELD, isPaged: true },
  { path: `balances/${WALLET}/token/native?chain_ids=1`, member: 'balances', keys: HELD },
  {
    path: `balances/${WALLET}/token/${[...CONTENTS.tokens.keys()][3]}?chain_ids=1`,
    member: 'balances',
    keys: HELD,
  },
  {
    path: `collectibles/${WALLET}?filter_spam=false`,
    member: 'entries',
    keys: ['contract_address', 'token_id', 'balance'],
    isPaged: true,
    isUnordered: true,
  },
  {
    path: `token-holders/1/${TOKEN}?`,
    member: 'holders',
    keys: ['wallet_address', 'balance'],
    isPaged: true,
  },
  {
    path: `token-info/${TOKEN}?chain_ids=1`,
    member: 'tokens',
    keys: ['symbol', 'name', 'decimals', 'total_supply'],
  },
  {
    path: 'search/tokens?query=coin&limit=50',
    member: null,
    keys: ['address', 'symbol', 'name', 'decimals'],
    isUnordered: true,
  },
  {
    path: `transaction/${hashOf('transaction', 0)}?chain_ids=1`,
    member: 'transaction',
    keys: [...SENT, 'block_hash', 'logs'],
  },
];

/** Rows of one batch by their ids: in which order an explorer has them, nothing says. */
const withSortedBatches = (rows: readonly Json[]): readonly Json[] => {
  const batchOf = ({ asset_type, type, tx_hash, token_address }: Json, at: number): string =>
    asset_type === 'erc1155' ? `${type} ${tx_hash} ${token_address}` : String(at);
  const byId = (one: Json, other: Json): number => Number(BigInt(String(one.id)) - BigInt(String(other.id)));
  return [...Map.groupBy(rows, batchOf).values()].flatMap((batch) =>
    batch.length > 1 ? batch.toSorted(byId) : batch,
  );
};

type Service = Awaited<ReturnType<typeof openExplored>>;

type Walked = {
  readonly rows: readonly Json[];
  readonly isSaid: boolean;
  /** Whether it is said that transfers are missing: calls stand in their place. */
  readonly lacksTransfers: boolean;
};

const rowsIn = (json: Json, member: string | null): readonly Json[] =>
  [member === null ? (json.tokens ?? json) : json[member]]
    .flat()
    .filter((row): row is Json => row !== null && row !== undefined);

const namesChain = (json: Json): boolean => {
  const { warnings, errors } = json as {
    warnings?: { chain_ids: number[] }[];
    errors?: { token_errors: { chain_id: number }[] };
  };
  return (
    warnings?.some(({ chain_ids }) => chain_ids.includes(1)) === true ||
    errors?.token_errors.some(({ chain_id }) => chain_id === 1) === true
  );
};

/** More pages than any walk has: one that has more does not end. */
const MAX_PAGES = 60;

/** All pages to the end, or to the first error. */
const walk = async (
  service: Service,
  { path, member, isPaged = false }: Lookup,
  limit: number,
): Promise<Walked> => {
  const rows: Json[] = [];
  let [isSaid, lacksTransfers] = [false, false];
  for (let [pages, offset] = [0, '']; pages < MAX_PAGES; pages += 1) {
    const { status, text, json } = await service.ask(`${path}${isPaged ? `&limit=${limit}${offset}` : ''}`);
    if (status !== 200) {
      // What only an operator mends is 400.
      expect([path, [400, 503].includes(status), text]).toEqual([
        path,
        true,
        expect.stringMatching(/chain 1\b|of ethereum/),
      ]);
      return { rows, isSaid: true, lacksTransfers };
    }
    rows.push(...rowsIn(json, member));
    isSaid ||= namesChain(json);
    lacksTransfers ||= text.includes('token transfers are missing');
    if (!isPaged || json.next_offset === undefined) return { rows, isSaid, lacksTransfers };
    offset = `&offset=${json.next_offset}`;
  }
  throw new Error(`expected an end of ${path}`);
};

/** Whether it says nothing else than the truth does, though it may say less. */
const isWithin = (said: unknown, truth: unknown): boolean => {
  if (said === null || said === undefined || Object.is(said, truth)) return true;
  if (Array.isArray(said) && Array.isArray(truth))
    return said.length === truth.length && said.every((each, at) => isWithin(each, truth[at]));
  if (typeof said !== 'object' || typeof truth !== 'object' || truth === null) return false;
  return Object.entries(said).every(([name, value]) => isWithin(value, Reflect.get(truth, name)));
};

const isTrue = (row: Json | undefined, truth: Json | undefined, keys: readonly string[]): boolean =>
  row !== undefined &&
  truth !== undefined &&
  isWithin(row, truth) &&
  keys.every((key) => row[key] !== undefined && row[key] !== null);

const open = (version: string) => openExplored([{ id: 1, contents: CONTENTS, version }]);

const truths = new Map<string, readonly Json[]>();

const truthOf = async (lookup: Lookup, version: string): Promise<readonly Json[]> => {
  const key = `${version} ${lookup.path}`;
  const known = truths.get(key);
  if (known !== undefined) return known;
  await using service = await open(version);
  const { rows, isSaid } = await walk(service, lookup, 100);
  expect([lookup.path, isSaid, rows.length > 0]).toEqual([lookup.path, false, true]);
  const sorted = withSortedBatches(rows);
  truths.set(key, sorted);
  return sorted;
};

const run = async (
  lookup: Lookup,
  version: string,
  limit: number,
  plant: (service: Service) => void,
): Promise<void> => {
  const truth = await truthOf(lookup, version);
  await using service = await open(version);
  plant(service);
  const { rows: said, isSaid, lacksTransfers } = await walk(service, lookup, limit);
  const isInPlace = ({ type, tx_hash: hash }: Json): boolean =>
    lacksTransfers && type === 'call' && truth.some((each) => each.tx_hash === hash);
  const rows = isSaid ? said.filter((row) => !isInPlace(row)) : withSortedBatches(said);
  const expected = isSaid ? rows.map((row) => truth.find((each) => isTrue(row, each, lookup.keys))) : truth;
  const wrong = Array.from({ length: Math.max(rows.length, expected.length) }, (_, at) => at)
    .filter((at) => !isTrue(rows[at], expected[at], lookup.keys))
    .map((at) => ({ row: rows[at], truth: expected[at] }));
  expect(wrong.slice(0, 2)).toEqual([]);
};

const VERSION = '/config/backend-version';

test('no answer of an explorer makes a list wrong, or shorter without a word', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...LOOKUPS),
      fc.constantFrom('11.2.7', '12.0.2'),
      fc.constantFrom(4, 9, 100),
      faults,
      fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(12)),
      fc.constantFrom(1, 2, 100),
      async (lookup, version, limit, planted, skipped, times) => {
        fc.pre(!(lookup.isUnordered && isOfOrder(planted)));
        await run(lookup, version, limit, ({ explorers }) => {
          let seen = 0;
          explorers[0]?.plant(
            planted.fault,
            ({ path }) => !path.endsWith(VERSION) && ++seen > skipped,
            times,
          );
        });
      },
    ),
    { numRuns: isFull ? runs(10_000) : 150 },
  );
});

const LISTS = ['transactions', 'token-transfers', 'tokens', 'nft', 'holders', 'logs'];

test.each(LOOKUPS.filter(({ isPaged }) => isPaged).map((lookup) => [lookup.path, lookup] as const))(
  'explorers that begin anew with every page, of %s, are found out',
  async (_, lookup) => {
    for (const version of ['11.2.7', '12.0.2'])
      await run(lookup, version, 4, ({ explorers }) => {
        for (const list of LISTS)
          explorers[0]?.plant(firstPageAgain(), ({ path }) => path.endsWith(`/${list}`));
      });
  },
);

test.each(LOOKUPS.slice(0, 3).map((lookup) => [lookup.path, lookup] as const))(
  'transactions that are in no block yet, in front of %s, are left out',
  async (_, lookup) => {
    await run(lookup, '12.0.2', 4, ({ explorers }) =>
      explorers[0]?.plant(pendingFirst, ({ path }) => path.endsWith('/transactions')),
    );
  },
);
