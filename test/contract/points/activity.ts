import { expecting, Skipped, shown } from '../finding.ts';
import { ask, findWallet, items, type Lookup, largest } from '../lookup.ts';
import type { Judged, Point } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  address,
  amount,
  anything,
  byMember,
  decimal,
  hash,
  integer,
  is,
  listOf,
  number,
  observed,
  oneOf,
  openSet,
  or,
  record,
  type Shape,
  text,
  time,
} from '../shape.ts';
import { newestFirst, tolerantWarnings } from './transactions.ts';

type Item = Readonly<Record<string, unknown>>;

const TYPES = ['send', 'receive', 'mint', 'burn', 'swap', 'approve', 'call'];
export const assetType = oneOf('native', 'erc20', 'erc721', 'erc1155');

export const assetMetadata = record(
  {},
  {
    symbol: text,
    decimals: integer,
    name: text,
    logo: text,
    price_usd: number,
    pool_size: number,
    standard: text,
  },
);
/** For native: `native`, or an empty text. */
const side = or(
  is('an address or native', (value) => /^(?:0x[0-9a-f]{40}|native)$/.test(String(value))),
  text,
);
export const calledFunction = record(
  {},
  {
    signature: text,
    name: text,
    inputs: listOf(record({ name: text, type: text, value: or(text, anything) })),
  },
);
const nothing = (why: string): Shape =>
  is(`nothing: ${why}`, (value) => value === undefined || value === null);

/** What an item has by its type: the other side of a transfer, both sides of a swap, no asset of a call. */
const BY_TYPE: Readonly<Record<string, Shape>> = {
  send: record({
    asset_type: assetType,
    to: address,
    value: amount,
    from: observed(nothing('it is the wallet')),
  }),
  receive: record({
    asset_type: assetType,
    from: address,
    value: amount,
    to: observed(nothing('it is the wallet')),
  }),
  mint: record({ asset_type: assetType }, { from: address, value: amount }),
  burn: record({ asset_type: assetType }, { to: address, value: amount }),
  swap: record(
    {
      from_token_address: side,
      from_token_value: amount,
      to_token_address: side,
      to_token_value: amount,
      token_address: observed(nothing('a swap has two')),
    },
    { from_token_metadata: assetMetadata, to_token_metadata: assetMetadata },
  ),
  approve: record({ asset_type: assetType, token_address: address, spender: address }, { value: amount }),
  call: record(
    {
      asset_type: observed(nothing('a call has no asset')),
      token_address: observed(nothing('a call has no asset')),
    },
    { function: calledFunction, contract_metadata: record({}, { name: text }), value: amount },
  ),
};

/** The fields that the lookup and deliveries have in common. */
export const activityItem = record(
  {
    chain_id: integer,
    block_number: or(integer, decimal),
    block_time: time,
    tx_hash: hash,
    type: openSet(...TYPES),
  },
  {
    token_address: address,
    from: address,
    to: address,
    id: decimal,
    value_usd: number,
    token_metadata: assetMetadata,
  },
);

export const activity: Lookup = {
  method: 'GET',
  path: '/v1/evm/activity/{address}',
  price: () => 3,
  needsKey: true,
  source: 'documentation: Activity',
  errors: 'text',
  answer: record(
    {
      activity: listOf(
        byMember(({ type }) => {
          const own = BY_TYPE[String(type)];
          return function* (value, at) {
            yield* activityItem(value, at);
            if (own !== undefined) yield* own(value, at);
          };
        }),
      ),
    },
    { next_offset: text, warnings: tolerantWarnings },
  ),
  support: 'activity',
  chains: 'many',
  list: {
    member: 'activity',
    // Prices and metadata may change in between.
    identity: ({ value_usd, token_metadata, from_token_metadata, to_token_metadata, ...item }) =>
      JSON.stringify(item),
    hasEqualItems: true,
    limit: { default: 20, most: 100 },
    pages: true,
  },
  find: (judged) => findWallet(judged, activity),
};

const point = (expects: string, check: Point['check']): Point => ({
  operation: nameOf(activity),
  expects,
  source: activity.source,
  check,
});

/** Filters by the value that the first item with one has. Items that have none of their own pass as well. */
const filtered = async (judged: Judged, parameter: string, read: (item: Item) => unknown) => {
  const value = (await largest(judged, activity)).map(read).find((each) => typeof each === 'string');
  if (value === undefined) throw new Skipped(`no activity with a ${parameter} was found`);
  const where = await activity.find(judged);
  const found = items(activity, await ask(judged, activity, where, { [parameter]: String(value) }));
  const wrong = found.find((item) => read(item) !== value && read(item) !== undefined);
  return [
    ...expecting(wrong === undefined, `only ${value}`, shown(wrong)),
    ...expecting(
      found.some((item) => read(item) === value),
      `items with ${value}`,
      'none',
    ),
  ];
};

export const activityPoints: readonly Point[] = [
  point('orders the newest first', async (judged) =>
    newestFirst((await largest(judged, activity)).map(({ block_time }) => block_time)),
  ),
  point('filters by activity_type', (judged) => filtered(judged, 'activity_type', ({ type }) => type)),
  point('filters by asset_type', (judged) =>
    // A swap passes by either of its sides, a call never.
    filtered(judged, 'asset_type', ({ type, asset_type }) =>
      type === 'swap' ? undefined : (asset_type ?? null),
    ),
  ),
  point('filters by token_address', (judged) =>
    filtered(judged, 'token_address', ({ token_address }) => token_address ?? null),
  ),
];
