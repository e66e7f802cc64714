import type { AnyList } from '../upstream/list-loader.ts';
import { type ListLookup, listLookup } from '../upstream/lookup.ts';
import { newestFirst } from '../upstream/parse/list-order.ts';
import { type ListedRecord, nullable, type RecordTable, required } from '../upstream/parse/record.ts';

/** What a lookup says of an activity. A delivery says the same, and is read leniently: see `src/deliveries/events`. */
const ACTIVITY = {
  name: 'activity',
  fields: {
    chainId: required('chain_id', 'chainId'),
    blockNumber: required('block_number', 'integer'),
    blockTime: required('block_time', 'time'),
    transactionHash: required('tx_hash', 'hex'),
    typeName: required('type', 'string'),
    assetTypeName: nullable('asset_type', 'lenientString'),
    tokenAddress: nullable('token_address', 'addressOrNative'),
    tokenId: nullable('id', 'integer'),
    from: nullable('from', 'addressOrEmpty'),
    to: nullable('to', 'addressOrEmpty'),
    value: nullable('value', 'integer'),
    valueUsd: nullable('value_usd', 'decimal'),
    spender: nullable('spender', 'addressOrEmpty'),
    token: {
      from: 'token_metadata',
      inline: {
        tokenSymbol: nullable('symbol', 'lenientString'),
        tokenName: nullable('name', 'lenientString'),
        tokenDecimals: nullable('decimals', 'tokenDecimals'),
        tokenLogo: nullable('logo', 'webUrl'),
        tokenPoolSizeUsd: nullable('pool_size', 'decimal'),
      },
    },
    soldAddress: nullable('from_token_address', 'addressOrNative'),
    soldValue: nullable('from_token_value', 'integer'),
    sold: {
      from: 'from_token_metadata',
      inline: {
        soldSymbol: nullable('symbol', 'lenientString'),
        soldName: nullable('name', 'lenientString'),
        soldDecimals: nullable('decimals', 'tokenDecimals'),
        soldLogo: nullable('logo', 'webUrl'),
      },
    },
    boughtAddress: nullable('to_token_address', 'addressOrNative'),
    boughtValue: nullable('to_token_value', 'integer'),
    bought: {
      from: 'to_token_metadata',
      inline: {
        boughtSymbol: nullable('symbol', 'lenientString'),
        boughtName: nullable('name', 'lenientString'),
        boughtDecimals: nullable('decimals', 'tokenDecimals'),
        boughtLogo: nullable('logo', 'webUrl'),
      },
    },
    function: nullable('function', 'json'),
    contract: {
      from: 'contract_metadata',
      inline: { contractName: nullable('name', 'lenientString') },
    },
    transactionFrom: nullable('tx_from', 'addressOrEmpty'),
    transactionTo: nullable('tx_to', 'addressOrEmpty'),
    transactionValue: nullable('tx_value', 'integer'),
  },
} as const satisfies RecordTable;

/** What an activity is, whenever it is read: prices and what is known of a token change. */
export const ACTIVITY_CONTENT = [
  'typeName',
  'assetTypeName',
  'tokenAddress',
  'tokenId',
  'from',
  'to',
  'value',
  'spender',
  'soldAddress',
  'soldValue',
  'boughtAddress',
  'boughtValue',
] as const;

/** Each filter is upstream's parameter: comma-separated, in one order. Null for no filter. */
type ActivityList = AnyList & {
  readonly types: string | null;
  readonly assetTypes: string | null;
  readonly tokens: string | null;
};

export const activityLookup: ListLookup<ActivityList, Activity> = listLookup({
  name: 'activity',
  path: ({ address }: ActivityList) => ['v1', 'evm', 'activity', address],
  query: ({ types, assetTypes, tokens }) => ({
    activity_type: types ?? undefined,
    asset_type: assetTypes ?? undefined,
    token_address: tokens ?? undefined,
  }),
  details: {},
  price: { perRequest: 3 },
  pageSizes: { newest: 100, older: 100 },
  maxItems: 1000,
  watchedBy: ['ACTIVITIES'],
  supportedAs: 'ACTIVITY',
  itemsField: 'activity',
  table: ACTIVITY,
  subject: 'subscribedAddress',
  identity: ['chainId', 'transactionHash'],
  content: ACTIVITY_CONTENT,
  order: newestFirst('blockTime'),
});

type Listed = ListedRecord<typeof ACTIVITY, 'subscribedAddress'>;

/** An activity as clients see it, from a lookup or from a delivery, which may lack anything. */
export type Activity = { readonly [Property in keyof Listed]: Listed[Property] | null } & {
  /** The number of equal activities of the transaction before it. Default: 0. */
  readonly ordinal?: number;
  /** Tells it from other events of a delivery. */
  readonly kind?: 'activity';
  /** The delivery and the place in it by which it is known, where its wallet is not. */
  readonly deliveredAs?: string;
};
