import { isObject, type RawObject } from '../../lib/json/exact-json.ts';
import type { AnyList } from '../../upstream/list-loader.ts';
import { type ListLookup, listLookup } from '../../upstream/lookup.ts';
import { contentDigest } from '../../upstream/parse/derived.ts';
import { optional, readChainId, readJson, readString, readWebUrl } from '../../upstream/parse/fields.ts';
import { UNORDERED } from '../../upstream/parse/list-order.ts';
import { nullable, type RecordTable, type RecordValue, required } from '../../upstream/parse/record.ts';
import {
  ASSET,
  address,
  asset,
  type DefiAsset,
  decimal,
  holdings,
  leg,
  object,
  objects,
  priced,
  type Role,
  summed,
  text,
  tokenIn,
} from './assets-rest.ts';

/**
 * Positions in protocols. Each type of the wire is a row of `ROWS`, which says what its assets are; one without a row is
 * OTHER, and shows what all types have. Values are the service's: nothing is computed but the sums over ranges.
 */

const RANGE = {
  name: 'tickRange',
  fields: {
    tokenId: required('token_id', 'integer'),
    tickLower: required('tick_lower', 'int'),
    tickUpper: required('tick_upper', 'int'),
    assets: { from: 'assets', records: ASSET, mode: 'strict' },
  },
} as const satisfies RecordTable;

const POSITION = {
  name: 'defiPosition',
  fields: {
    kind: required('kind', 'string'),
    typeName: required('type', 'string'),
    chain: nullable('chain', 'string'),
    chainId: required('chain_id', 'chainId'),
    protocol: nullable('protocol', 'string'),
    valueUsd: nullable('value_usd', 'decimal'),
    logo: nullable('logo', 'webUrl'),
    contract: nullable('contract', 'address'),
    positionId: nullable('position_id', 'string'),
    assets: { from: 'assets', records: ASSET, mode: 'strict' },
    ranges: { from: 'ranges', records: RANGE, mode: 'lenientOrNull' },
    lockedUntil: nullable('locked_until', 'time'),
    details: required('details', 'json'),
    /** What tells it from others of its contract and id. */
    key: required('key', 'string'),
  },
} as const satisfies RecordTable;

/** What tells positions of one type and chain apart. */
export const POSITION_CONTENT = ['contract', 'positionId', 'key'] as const;

export type TickRange = RecordValue<typeof RANGE>;
export type DefiPosition = RecordValue<typeof POSITION> & {
  readonly owner: string;
  /** The number of positions before it that are the same in all that identifies them. Default: 0. */
  readonly ordinal?: number;
};

/** What a row says of a position. */
type Row = {
  readonly kind: string;
  /** The fields of which the first that is there is what an explorer opens. */
  readonly contract: readonly string[];
  readonly positionId?: string;
  /** Further fields that tell positions apart. */
  readonly key?: readonly string[];
  readonly assets: (raw: RawObject, chainId: number) => readonly (DefiAsset | null)[];
};

/** What is supplied where the token alone says it. */
const suppliedIn = (token: RawObject | null, chainId: number): DefiAsset | null =>
  token?.holdings === undefined ? null : holdings('SUPPLIED', chainId, token);

const pool: Row = {
  kind: 'POOL',
  contract: ['pool'],
  assets: (raw, chainId) => {
    const pair = [tokenIn(raw, 'token0'), tokenIn(raw, 'token1')].flatMap((token): RawObject[] =>
      token === null ? [] : [token],
    );
    const tokens: readonly RawObject[] = [...pair, ...objects(raw.tokens)];
    const share = { address: raw.pool, name: raw.pool_name, symbol: raw.pool_symbol };
    return [
      ...tokens.map((token) => holdings('SUPPLIED', chainId, token, token.price_usd)),
      asset('RECEIPT', chainId, share, priced(raw)),
    ];
  },
};

const concentrated = (contract: string, others: Partial<Row>): Row => ({
  kind: 'CONCENTRATED_POOL',
  contract: [contract],
  assets: (raw, chainId) => summed(rangesOf(raw, chainId).flatMap(({ assets }) => assets)),
  ...others,
});

const lending = (others: Partial<Row> = {}): Row => ({
  kind: 'LENDING',
  contract: ['token'],
  assets: (raw, chainId) => {
    const token = tokenIn(raw, 'underlying_token');
    const hasLegs = isObject(raw.supply) || isObject(raw.borrow);
    return [
      hasLegs ? leg('SUPPLIED', chainId, token, raw.supply) : suppliedIn(token, chainId),
      leg('BORROWED', chainId, token, raw.borrow),
      ...objects(raw.collateral).map((each) => leg('COLLATERAL', chainId, tokenIn(each, 'asset'), each)),
      ...objects(raw.claimable_rewards).map((each) =>
        leg('REWARD', chainId, tokenIn(each, 'token') ?? tokenIn(each, 'asset'), each),
      ),
    ];
  },
  ...others,
});

const ROWS: Readonly<Record<string, Row>> = {
  Erc4626: {
    kind: 'VAULT',
    contract: ['token'],
    assets: (raw, chainId) => [
      asset('RECEIPT', chainId, tokenIn(raw, 'token'), priced(raw)),
      holdings('SUPPLIED', chainId, tokenIn(raw, 'underlying_token')),
    ],
  },
  Tokenized: {
    kind: 'RECEIPT',
    contract: ['lending_pool', 'token'],
    key: ['token_type'],
    assets: (raw, chainId) => [
      asset('RECEIPT', chainId, tokenIn(raw, 'token'), priced(raw)),
      holdings(
        text(raw.token_type)?.endsWith('Debt') ? 'BORROWED' : 'SUPPLIED',
        chainId,
        tokenIn(raw, 'underlying_token'),
      ),
    ],
  },
  UniswapV2: pool,
  BalancerV3: pool,
  Nft: concentrated('pool', {}),
  NftV4: concentrated('pool_manager', { positionId: 'pool_id', key: ['salt'] }),
  CompoundV2: lending(),
  Moonwell: lending(),
  CompoundV3: lending(),
  Morpho: {
    kind: 'LENDING',
    contract: ['morpho'],
    positionId: 'market_id',
    assets: (raw, chainId) => [
      leg('SUPPLIED', chainId, tokenIn(raw, 'loan_token'), raw.supply),
      leg('BORROWED', chainId, tokenIn(raw, 'loan_token'), raw.borrow),
      leg('COLLATERAL', chainId, tokenIn(raw, 'collateral_token'), raw.collateral_quote),
    ],
  },
  Pendle: {
    kind: 'YIELD',
    contract: ['market', 'token'],
    key: ['token_type'],
    assets: (raw, chainId) => [asset('RECEIPT', chainId, tokenIn(raw, 'token'), priced(raw))],
  },
  FluidVault: {
    kind: 'LEVERAGED_VAULT',
    contract: ['vault_address'],
    positionId: 'nft_id',
    assets: (raw, chainId) =>
      (
        [
          ['SUPPLIED', raw.supply0],
          ['SUPPLIED', raw.supply1],
          ['BORROWED', raw.borrow0],
          ['BORROWED', raw.borrow1],
        ] as const
      ).map(([role, side]) =>
        isObject(side) ? leg(role, chainId, tokenIn(side, 'token'), object(side.quote)) : null,
      ),
  },
  VeNft: {
    kind: 'LOCK',
    contract: ['ve_contract'],
    positionId: 'token_id',
    assets: (raw, chainId) => [
      asset('LOCKED', chainId, tokenIn(raw, 'underlying_token'), { amount: raw.locked_amount }),
    ],
  },
  LiquityV2Trove: {
    kind: 'DEBT',
    contract: ['trove_manager'],
    positionId: 'trove_id',
    assets: (raw, chainId) => [
      leg('COLLATERAL', chainId, tokenIn(raw, 'collateral_token'), raw.collateral),
      leg('BORROWED', chainId, tokenIn(raw, 'debt_token'), raw.debt),
    ],
  },
  LiquityV2StabilityPool: {
    kind: 'STABILITY_POOL',
    contract: ['stability_pool'],
    assets: (raw, chainId) => [
      asset('SUPPLIED', chainId, tokenIn(raw, 'deposit_token'), { amount: raw.compounded_deposit }),
      asset('REWARD', chainId, tokenIn(raw, 'deposit_token'), { amount: raw.yield_gain }),
      asset('REWARD', chainId, tokenIn(raw, 'collateral_token'), { amount: raw.coll_gain }),
    ],
  },
};

/** A type that appeared after this gateway was made: what it names as others do is shown. */
const OTHER: Row = {
  kind: 'OTHER',
  contract: ['pool', 'vault_address', 'token'],
  assets: (raw, chainId) => [
    asset('RECEIPT', chainId, tokenIn(raw, 'token'), priced(raw)),
    holdings('SUPPLIED', chainId, tokenIn(raw, 'underlying_token')),
  ],
};

const int = (value: unknown): number | null =>
  typeof value === 'number' && value === (value | 0) ? value : null;

const rangesOf = (raw: RawObject, chainId: number): readonly TickRange[] => {
  const tokens = [tokenIn(raw, 'token0'), tokenIn(raw, 'token1')];
  return objects(raw.positions).flatMap((range) => {
    const [tokenId, tickLower, tickUpper] = [
      idOf(range.token_id),
      int(range.tick_lower),
      int(range.tick_upper),
    ];
    if (tokenId === null || tickLower === null || tickUpper === null) return [];
    const sides = [object(range.token0), object(range.token1)];
    const assets = (role: Role, field: string) =>
      sides.flatMap(
        (side, index) =>
          asset(role, chainId, tokens[index] ?? null, { amount: side[field], price: side.price_usd }) ?? [],
      );
    return [
      {
        tokenId,
        tickLower,
        tickUpper,
        assets: [...assets('SUPPLIED', 'holdings'), ...assets('REWARD', 'rewards')],
      },
    ];
  });
};

/** Numbers as decimal digits; 32 bytes as hex, in lower case. */
const idOf = (value: unknown): string | null => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  const found = text(value)?.toLowerCase() ?? '';
  if (/^0x[0-9a-f]{64}$/.test(found)) return found;
  return /^(?:\d{1,78}|0x[0-9a-f]{1,64})$/.test(found) ? BigInt(found).toString() : null;
};

/** Unix seconds. */
const MAX_SECONDS = 8.64e12;

const lockEnd = ({ lock_end: end, is_permanent: isPermanent }: RawObject): string | null => {
  const seconds = Number(end);
  const isTime = isPermanent !== true && seconds > 0 && seconds <= MAX_SECONDS;
  return isTime ? new Date(seconds * 1000).toISOString() : null;
};

/** Reads a position of an answer. Throws MalformedFieldError where it has no type or chain. */
const readPosition = (raw: RawObject, owner: string): DefiPosition => {
  const typeName = readString(raw.type, 'type');
  const chainId = readChainId(raw.chain_id, 'chain_id');
  const row = Object.hasOwn(ROWS, typeName) ? (ROWS[typeName] ?? OTHER) : OTHER;
  const contracts = row.contract.flatMap(
    (field) => address(raw[field]) ?? address(tokenIn(raw, field)?.address) ?? [],
  );
  const token = address(tokenIn(raw, 'token')?.address);
  return {
    kind: row.kind,
    typeName,
    chain: text(raw.chain),
    chainId,
    protocol: text(raw.protocol),
    valueUsd: decimal(raw.value_usd, raw.usd_value),
    logo: readWebUrl(raw.logo),
    contract: contracts[0] ?? null,
    positionId: row.positionId === undefined ? null : idOf(raw[row.positionId]),
    assets: row.assets(raw, chainId).flatMap((each) => each ?? []),
    ranges: row.kind === 'CONCENTRATED_POOL' ? rangesOf(raw, chainId) : null,
    lockedUntil: row.kind === 'LOCK' ? lockEnd(raw) : null,
    details: optional(readJson)(raw, 'position'),
    key: contentDigest([token, ...(row.key ?? []).map((field) => text(raw[field]))]),
    owner,
  };
};

/** All positions come in one answer: this is far beyond what any wallet has. */
const MAX_POSITIONS = 5000;

export const defiPositionsLookup: ListLookup<AnyList, DefiPosition> = listLookup({
  name: 'defiPositions',
  path: ({ address: wallet }: AnyList) => ['v1', 'evm', 'defi', 'positions', wallet],
  query: () => ({ limit: undefined }),
  details: {},
  price: { perChain: 4 },
  pageSizes: { newest: MAX_POSITIONS, older: MAX_POSITIONS },
  maxItems: 1000,
  // They change rarely, and their request costs four compute units for each chain.
  timesHead: 15,
  supportedAs: 'DEFI_POSITIONS',
  isWhole: true,
  itemsField: 'positions',
  moreField: 'aggregations',
  read: readPosition,
  table: POSITION,
  subject: 'owner',
  identity: ['chainId', 'typeName'],
  content: POSITION_CONTENT,
  order: UNORDERED,
});

/** What an answer says its positions are worth together; null where it does not say it. */
export const readTotals = (
  aggregations: unknown,
): { readonly totalValueUsd: string | null; readonly byChain: readonly ChainTotal[] | null } => {
  const { total_value_usd, total_usd_value, total_by_chain } = object(aggregations);
  const byChain = Object.entries(object(total_by_chain)).flatMap(([id, total]) => {
    const totalValueUsd = decimal(total);
    return totalValueUsd === null || !/^\d{1,15}$/.test(id) ? [] : [{ chainId: Number(id), totalValueUsd }];
  });
  return {
    totalValueUsd: decimal(total_value_usd, total_usd_value),
    byChain: isObject(total_by_chain) ? byChain : null,
  };
};

export type ChainTotal = { readonly chainId: number; readonly totalValueUsd: string };
