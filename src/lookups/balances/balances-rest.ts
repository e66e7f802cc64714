import { Decimal } from '../../lib/decimal.ts';
import { listLookup } from '../../upstream/lookup.ts';
import { hoursIn } from '../../upstream/page.ts';
import { UNORDERED } from '../../upstream/parse/list-order.ts';
import {
  type ListedRecord,
  nullable,
  type RecordTable,
  type RecordValue,
  required,
} from '../../upstream/parse/record.ts';

/** The price of one whole token some hours before the answer. */
const HISTORICAL_PRICE = {
  name: 'historicalPrice',
  fields: {
    hoursAgo: required('offset_hours', 'int'),
    priceUsd: nullable('price_usd', 'decimal'),
  },
} as const satisfies RecordTable;

/** Until March 2026 the service sent `token0` and `token1` in place of `tokens`. */
const POOL = {
  name: 'pool',
  fields: {
    type: nullable('pool_type', 'lenientString'),
    address: nullable('address', 'addressOrEmpty'),
    chainId: nullable('chain_id', 'chainId'),
    listedTokens: nullable('tokens', 'json'),
    token0: nullable('token0', 'json'),
    token1: nullable('token1', 'json'),
  },
} as const satisfies RecordTable;

const BALANCE = {
  name: 'balance',
  fields: {
    chain: nullable('chain', 'string'),
    chainId: required('chain_id', 'chainId'),
    /** Null for the chain's own currency. */
    address: required('address', 'addressOrNative'),
    amount: required('amount', 'integer'),
    symbol: nullable('symbol', 'lenientString'),
    name: nullable('name', 'lenientString'),
    decimals: nullable('decimals', 'tokenDecimals'),
    priceUsd: nullable('price_usd', 'decimal'),
    valueUsd: nullable('value_usd', 'decimal'),
    poolSizeUsd: nullable('pool_size', 'decimal'),
    statedLowLiquidity: nullable('low_liquidity', 'boolean'),
    metadata: {
      from: 'token_metadata',
      inline: { logo: nullable('logo', 'webUrl'), tokenUrl: nullable('url', 'webUrl') },
    },
    priceHistory: { from: 'historical_prices', records: HISTORICAL_PRICE, mode: 'lenientOrNull' },
    pool: { from: 'pool', record: POOL, mode: 'lenientObject' },
  },
} as const satisfies RecordTable;

/** The balances of a wallet, or those of them that upstream filters. */
export type BalancesList = {
  readonly address: string;
  readonly chains: string | null;
  readonly assetClass: 'NATIVE' | 'ERC20' | 'STABLECOIN' | null;
  readonly excludeSpam: boolean;
  readonly excludeUnpriced: boolean;
};

/** Upstream's largest page: it costs as much as one of a single balance. */
const PAGE_SIZE = 1000;

const shared = {
  details: { logo: ['logo'], url: ['tokenUrl'], pools: ['pool'] },
  itemsField: 'balances',
  table: BALANCE,
  subject: 'owner',
  identity: ['chainId', 'address'],
  supportedAs: 'BALANCES',
  // Pages are by chain and token as far as seen, but the contract promises no order.
  order: UNORDERED,
  pageSizes: { newest: PAGE_SIZE, older: PAGE_SIZE },
  maxItems: PAGE_SIZE,
  // Prices move anyway, and a request costs a compute unit for each chain.
  timesHead: 5,
} as const;

const detailsQuery = (details: ReadonlySet<string>) => ({
  metadata: ['logo', 'url', 'pools'].filter((name) => details.has(name)).join() || undefined,
  historical_prices: hoursIn([...details].join()).join() || undefined,
});

export const balancesLookup = listLookup({
  ...shared,
  name: 'balances',
  path: ({ address }: BalancesList) => ['v1', 'evm', 'balances', address],
  query: ({ assetClass, excludeSpam, excludeUnpriced }, details) => ({
    filters: assetClass === 'NATIVE' || assetClass === 'ERC20' ? assetClass.toLowerCase() : undefined,
    asset_class: assetClass === 'STABLECOIN' ? 'stablecoin' : undefined,
    exclude_spam_tokens: excludeSpam ? 'true' : undefined,
    exclude_unpriced: excludeUnpriced ? 'true' : undefined,
    ...detailsQuery(details),
  }),
  price: { perChain: 1 },
});

/** One balance of a wallet, on one chain: a list of one, or an empty one. */
export type SingleBalance = {
  readonly address: string;
  readonly chains: string;
  /** A contract, or `native`. */
  readonly token: string;
};

export const singleBalanceLookup = listLookup({
  ...shared,
  name: 'balance',
  freshAs: 'balances',
  path: ({ address, token }: SingleBalance) => ['v1', 'evm', 'balances', address, 'token', token],
  query: (_list, details) => ({ limit: undefined, offset: undefined, ...detailsQuery(details) }),
  price: { perRequest: 1 },
});

/** A balance as a list has it: exact numbers are decimal strings. */
export type ListedBalance = ListedRecord<typeof BALANCE, 'owner'>;
export type LiquidityPoolRecord = RecordValue<typeof POOL>;

/**
 * Whether the price of a balance comes from a pool of at least this many US dollars. Where the size is unknown, it does unless
 * the service states low liquidity. The chain's own currency needs no pool.
 */
export const hasPoolOf = (minPoolSizeUsd: string): ((balance: ListedBalance) => boolean) => {
  const min = new Decimal(minPoolSizeUsd);
  return ({ address, poolSizeUsd, statedLowLiquidity }) => {
    if (address === null || min.isLessThanOrEqualTo(0)) return true;
    return poolSizeUsd === null ? statedLowLiquidity !== true : min.isLessThanOrEqualTo(poolSizeUsd);
  };
};
