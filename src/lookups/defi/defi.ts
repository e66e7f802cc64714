import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { derivedField, viewField } from '../../graph/plan/plannable.ts';
import { NO_DETAILS } from '../../upstream/page.ts';
import { contentId, isNullOf, jsonOf, oneWordOf } from '../../upstream/parse/derived.ts';
import { chainArguments } from '../chains/chains-schema.ts';
import { listField } from '../list-field.ts';
import type { TokenRecord } from '../tokens/token.ts';
import { Wallet } from '../wallet.ts';
import type { DefiAsset as AssetShape } from './assets-rest.ts';
import {
  type ChainTotal,
  defiPositionsLookup,
  POSITION_CONTENT,
  type DefiPosition as PositionShape,
  type TickRange as RangeShape,
  readTotals,
} from './defi-rest.ts';

const POSITION_TYPES = {
  VAULT: { description: 'A share of a vault: Erc4626.' },
  RECEIPT: { description: 'A token that stands for a deposit, or for a debt: Tokenized.' },
  POOL: { description: 'A share of a pool: UniswapV2, BalancerV3.' },
  CONCENTRATED_POOL: { description: 'Liquidity in ranges of prices: Nft, NftV4.' },
  LENDING: { description: 'A deposit, a debt or both: CompoundV2, CompoundV3, Moonwell, Morpho.' },
  YIELD: { description: 'A token of principal or yield: Pendle.' },
  LEVERAGED_VAULT: { description: 'A deposit with a debt against it: FluidVault.' },
  LOCK: { description: 'Tokens that are locked for votes: VeNft.' },
  DEBT: { description: 'A debt with its collateral: LiquityV2Trove.' },
  STABILITY_POOL: { description: 'A deposit that pays for the debts of others: LiquityV2StabilityPool.' },
  OTHER: { description: 'A type that this gateway does not know.' },
} as const;

const DefiPositionType = builder.enumType('DefiPositionType', {
  description: 'What kind of position it is.',
  values: POSITION_TYPES,
});

const ROLES = {
  SUPPLIED: { description: 'Deposited or lent: what the position holds of its underlying tokens.' },
  BORROWED: { description: 'Owed.' },
  COLLATERAL: { description: 'Held against a debt.' },
  REWARD: { description: 'Earned and not claimed.' },
  LOCKED: { description: 'Locked until a time, or for good.' },
  RECEIPT: { description: 'The token that stands for the position. It may be a balance too.' },
} as const;

const DefiAssetRole = builder.enumType('DefiAssetRole', {
  description: 'The part that a token has in a position.',
  values: ROLES,
});

type TokenShape = Omit<TokenRecord, 'chain' | 'logo' | 'isBare'>;

/**
 * A type of its own, without an id: positions describe some tokens in part, and under the id of a Token a client's cache would
 * have the rest replaced by nulls.
 */
const DefiToken = builder.objectRef<TokenShape>('DefiToken').implement({
  description:
    'A token as a position describes it, which may be in part. It has no id: `Query.token` has the token of its chain and address.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    address: t.expose('address', {
      type: 'Address',
      nullable: true,
      description: 'The token contract. Null for the native asset.',
    }),
    isNative: t.boolean({
      description: "Whether it is the chain's own currency, such as ETH on Ethereum.",
      ...derivedField(isNullOf('address')),
    }),
    symbol: t.exposeString('symbol', nullIfOmitted('The symbol, such as USDC.')),
    name: t.exposeString('name', nullIfOmitted('The name, such as USD Coin.')),
    decimals: t.exposeInt(
      'decimals',
      nullIfOmitted('One whole token is 10 to this power of its smallest unit.'),
    ),
  }),
});

const DefiAsset = builder.objectRef<AssetShape>('DefiAsset').implement({
  description: 'A token of a position, in whole tokens.',
  fields: (t) => ({
    role: t.field({
      type: DefiAssetRole,
      description: 'The part that it has in the position.',
      ...derivedField(oneWordOf('role', ROLES)),
    }),
    token: t.field({
      type: DefiToken,
      description: 'The token, as the position says it.',
      ...viewField<AssetShape, TokenShape>({
        chainId: 'chainId',
        address: 'address',
        symbol: 'symbol',
        name: 'name',
        decimals: 'decimals',
      }),
    }),
    amount: t.expose('amount', { type: 'Decimal', ...nullIfOmitted('How much of it, in whole tokens.') }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'The price of one whole token in US dollars. The service states 0 for an unknown price. Null when it omits it.',
    }),
    valueUsd: t.expose('valueUsd', {
      type: 'Decimal',
      ...nullIfOmitted('The value in US dollars, where the service says it of the asset.'),
    }),
  }),
});

const TickRange = builder.objectRef<RangeShape>('TickRange').implement({
  description: 'Liquidity between two prices, which an NFT stands for.',
  fields: (t) => ({
    tokenId: t.expose('tokenId', { type: 'BigInt', description: 'The id of the NFT.' }),
    tickLower: t.exposeInt('tickLower', { description: 'The lower tick: a price is 1.0001 to this power.' }),
    tickUpper: t.exposeInt('tickUpper', { description: 'The upper tick.' }),
    assets: t.expose('assets', {
      type: [DefiAsset],
      description: 'What is in the range: supplied tokens, and unclaimed fees as rewards.',
      extensions: withCost({ items: 4 }),
    }),
  }),
});

const DefiPosition = builder.objectRef<PositionShape>('DefiPosition').implement({
  description:
    'A position in a protocol. Its receipt tokens may be balances of the wallet too: do not add the two.',
  fields: (t) => ({
    id: t.id({
      description: "A key for client caches: unique for a wallet and a position. `node` can't refetch it.",
      ...derivedField(contentId('DefiPosition', ['owner', 'chainId', 'typeName'], POSITION_CONTENT)),
    }),
    type: t.field({
      type: DefiPositionType,
      description: 'The kind of position. OTHER when this gateway does not know its type: see `typeName`.',
      ...derivedField(oneWordOf('kind', POSITION_TYPES)),
    }),
    typeName: t.exposeString('typeName', {
      description: "The service's word for its type, an open set: Erc4626, UniswapV2, Morpho, …",
    }),
    protocol: t.exposeString(
      'protocol',
      nullIfOmitted('The protocol, such as UniswapV3; it may be Unknown.'),
    ),
    chain: t.exposeString('chain', nullIfOmitted("The service's name for the chain.")),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    valueUsd: t.expose('valueUsd', {
      type: 'Decimal',
      ...nullIfOmitted('The value in US dollars, supply minus debt, as the service says it.'),
    }),
    logo: t.expose('logo', { type: 'URL', ...nullIfOmitted('The URL of a picture.') }),
    contract: t.expose('contract', {
      type: 'Address',
      nullable: true,
      description:
        'What an explorer opens: the vault, pool, market, escrow or manager. Null where the service names none.',
    }),
    positionId: t.exposeString('positionId', {
      nullable: true,
      description:
        'Identifies it among the positions of its contract: the id of an NFT, market, pool or trove. Numbers are decimal digits, 32 bytes are hex. Null where the position has no id.',
    }),
    assets: t.expose('assets', {
      type: [DefiAsset],
      description:
        'The assets of the position, each with its role. Those of several ranges are added. Empty where an unknown type can not be read.',
      extensions: withCost({ items: 2 }),
    }),
    ranges: t.expose('ranges', {
      type: [TickRange],
      nullable: true,
      description: 'The ranges of concentrated liquidity. Null for other positions.',
      extensions: withCost({ items: 1 }),
    }),
    lockedUntil: t.expose('lockedUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When a lock ends. Null for other positions, and where it is permanent.',
    }),
    details: t.field({
      type: 'JSON',
      description:
        'The position as the service sent it, for members that have no field. An integer beyond 2^53 is a string.',
      extensions: { ...derivedField(jsonOf('details')).extensions, ...withCost({ bytes: 800 }) },
      resolve: ({ details }) => details,
    }),
  }),
});

const DefiChainTotal = builder.objectRef<ChainTotal>('DefiChainTotal').implement({
  description: 'What the positions of one chain are worth.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    totalValueUsd: t.expose('totalValueUsd', {
      type: 'Decimal',
      description: 'The value of its positions in US dollars, net of debts.',
    }),
  }),
});

export const defiPositions = listField(Wallet, defiPositionsLookup, {
  item: DefiPosition,
  items: "a wallet's DeFi positions",
  description:
    'The positions of the wallet in protocols, in the order of the service. It costs 4 compute units for each chain: name them by `chainIds`. The service does not page: all come in one request, whatever `first`, `after` and `types` say. Null, with an error, when the lookup fails.',
  args: {
    ...chainArguments,
    ...builder.args((t) => ({
      types: t.field({
        type: [DefiPositionType],
        description:
          'Only positions of one of these kinds. The gateway leaves out the others, at no cost. An empty list is no filter.',
      }),
    })),
  },
  list: ({ address }, chains) => ({ address, chains }),
  reading({ types }) {
    const kinds = new Set<string>(types);
    const key = [...kinds].toSorted().join();
    const filter = kinds.size === 0 ? null : { key, passes: ({ kind }: PositionShape) => kinds.has(kind) };
    return { filters: null, details: NO_DETAILS, filter };
  },
  extend: (connection) =>
    builder.objectFields(connection, (t) => ({
      totalValueUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description:
          "The service's own sum of all positions in US dollars, net of debts. Null when it says none, with `types`, and with `first: 0`, which makes no request.",
        resolve: async ({ more }) => readTotals(await more).totalValueUsd,
      }),
      byChain: t.field({
        type: [DefiChainTotal],
        nullable: true,
        description: 'The same for each chain. Null when `totalValueUsd` is.',
        resolve: async ({ more }) => readTotals(await more).byChain,
      }),
    })),
  advice: 'DeFi positions cost 4 compute units for each chain: name the chains by chainIds.',
});
