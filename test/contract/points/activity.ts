import { expecting, membersOf, Skipped, shown } from '../finding.ts';
import { ask, findWallet, items, type Lookup, largest } from '../lookup.ts';
import type { Judged, Point } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  address,
  amount,
  anything,
  both,
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
    standard: openSet('native', 'erc20', 'erc721', 'erc1155'),
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
const ZERO = `0x${'0'.repeat(40)}`;
const nobody = or(
  is('the zero address', (value) => value === ZERO),
  address,
);
const nothing = (why: string): Shape =>
  is(`nothing: ${why}`, (value) => value === undefined || value === null);

/** Members that are not observed. */
const none = (why: string, ...members: readonly string[]) =>
  Object.fromEntries(members.map((member) => [member, observed(nothing(why))]));

/** What an item has by its asset. The native one has no contract, and an NFT an id. */
const BY_ASSET: Readonly<Record<string, Shape>> = {
  native: record(none('the native asset has no contract', 'token_address', 'token_metadata')),
  erc721: observed(record({ id: decimal })),
  erc1155: observed(record({ id: decimal })),
};

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
  mint: record({ asset_type: assetType }, { from: nobody, value: amount }),
  burn: record({ asset_type: assetType }, { to: nobody, value: amount }),
  swap: record(
    {
      from_token_address: side,
      from_token_value: amount,
      to_token_address: side,
      to_token_value: amount,
      ...none('a swap has two', 'token_address', 'token_metadata', 'value', 'id'),
    },
    {
      asset_type: oneOf('native', 'erc20'),
      from_token_metadata: assetMetadata,
      to_token_metadata: assetMetadata,
    },
  ),
  approve: record(
    {
      asset_type: assetType,
      token_address: address,
      spender: address,
      ...none('it moves nothing', 'value_usd'),
    },
    { value: amount },
  ),
  call: record(none('a call has no asset', 'asset_type', 'token_address', 'token_metadata', 'value_usd'), {
    function: calledFunction,
    contract_metadata: record({}, { name: text }),
    value: amount,
  }),
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

/** Prices and metadata may change in between. */
const identity = ({ value_usd, token_metadata, from_token_metadata, to_token_metadata, ...item }: Item) =>
  JSON.stringify(item);

/** What deliveries have, and the lookup has not: a service may say of both what its transaction is. */
const lookupItem = record(none('the lookup has it not', 'chain', 'call_type', 'data'), {
  tx_from: address,
  tx_to: address,
  tx_value: decimal,
});

export const activity: Lookup = {
  method: 'GET',
  path: '/v1/evm/activity/{address}',
  price: (chains) => (chains === 0 ? 0 : 3),
  needsKey: true,
  source: 'documentation: Activity',
  errors: 'text',
  answer: record(
    {
      activity: listOf(
        byMember(({ type, asset_type }) => {
          const own = BY_TYPE[String(type)] ?? anything;
          const asset =
            type === 'swap' || type === 'approve' ? anything : (BY_ASSET[String(asset_type)] ?? anything);
          return both(activityItem, lookupItem, own, asset);
        }),
      ),
    },
    { next_offset: text, warnings: tolerantWarnings },
  ),
  support: 'activity',
  unknown: { activity_type: ['transfer'], asset_type: ['nft'], token_address: ['USDC'] },
  chains: 'many',
  list: {
    member: 'activity',
    identity,
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

type Read = (item: Item) => unknown;

/** What a filter reads of an item: undefined where it says nothing, because a swap passes by either of its sides. */
const FILTERS: Readonly<Record<string, Read>> = {
  activity_type: ({ type }) => type,
  asset_type: ({ type, asset_type }) => (type === 'swap' ? undefined : (asset_type ?? null)),
  token_address: ({ token_address }) => token_address ?? null,
};

/**
 * Filters by values of an item each, which any of a parameter's may pass, and all parameters must. What is found are those
 * of the items without a filter that pass, in their order.
 */
const filtered = async (judged: Judged, wanted: Readonly<Record<string, readonly unknown[]>>) => {
  const where = await activity.find(judged);
  const query = Object.fromEntries(Object.entries(wanted).map(([name, values]) => [name, values.join()]));
  const found = items(activity, await ask(judged, activity, where, { ...query, limit: '100' }));
  const reads = Object.entries(wanted).map(([name, values]) => {
    const read = FILTERS[name] ?? (() => undefined);
    const texts = values.map((value) => String(value).toLowerCase());
    return (item: Item) => read(item) === undefined || texts.includes(String(read(item)));
  });
  const passes = (item: Item) => reads.every((read) => read(item));
  const isSure = (item: Item) =>
    Object.keys(wanted).every((name) => FILTERS[name]?.(item) !== undefined) && passes(item);
  const wrong = found.find((item) => !passes(item));
  const expected = (await largest(judged, activity)).filter(isSure).map(identity);
  const sure = found.filter(isSure).map(identity);
  // New items come first, and a page behind a filter may be short.
  const start = sure.findIndex((each) => expected.includes(each));
  const count = start < 0 ? 0 : Math.min(sure.length - start, expected.length);
  const isSame = sure.slice(start, start + count).join() === expected.slice(0, count).join();
  return [
    ...expecting(wrong === undefined, `only ${shown(query)}`, shown(wrong)),
    ...expecting(found.length > 0, `items with ${shown(query)}`, 'none'),
    ...expecting(
      sure.length === 0 || expected.length === 0 || (count > 0 && isSame),
      `those of ${expected.length} items that pass ${shown(query)}, in their order`,
      `${sure.length} others`,
    ),
  ];
};

/** Different values of the member of an item that a parameter filters by. @throws Skipped when no item has one. */
const valuesOf = async (judged: Judged, parameter: string): Promise<readonly unknown[]> => {
  const read = FILTERS[parameter] ?? (() => undefined);
  const texts = (await largest(judged, activity)).map(read).filter((each) => typeof each === 'string');
  if (texts.length === 0) throw new Skipped(`no activity with a ${parameter} was found`);
  return [...new Set(texts)];
};

export const activityPoints: readonly Point[] = [
  point('orders the newest first', async (judged) =>
    newestFirst((await largest(judged, activity)).map(({ block_time }) => block_time)),
  ),
  ...Object.keys(FILTERS).map((parameter) =>
    point(`filters by ${parameter}`, async (judged) => {
      const [value, other] = await valuesOf(judged, parameter);
      const one = await filtered(judged, { [parameter]: [value] });
      return other === undefined
        ? one
        : [...one, ...(await filtered(judged, { [parameter]: [value, other] }))];
    }),
  ),
  point('takes token_address in any case, and filters together', async (judged) => {
    const [token] = await valuesOf(judged, 'token_address');
    const isOf = ({ token_address }: Item) => token_address === token;
    const type = (await largest(judged, activity)).find(isOf)?.type;
    const token_address = [String(token).toUpperCase().replace(/^0X/, '0x')];
    return filtered(judged, { token_address, activity_type: [type] });
  }),
  point('values amounts at their prices', async (judged) => {
    const wrong = (await largest(judged, activity)).find(({ value, value_usd, token_metadata }) => {
      const { decimals, price_usd } = membersOf(token_metadata);
      if (typeof value_usd !== 'number' || typeof price_usd !== 'number') return false;
      const worth = (Number(value) / 10 ** Number(decimals)) * price_usd;
      return Math.abs(worth - value_usd) > Math.max(Math.abs(worth), Math.abs(value_usd)) * 1e-6;
    });
    return expecting(wrong === undefined, 'value_usd = value × price_usd', shown(wrong));
  }),
];
