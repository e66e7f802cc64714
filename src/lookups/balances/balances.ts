import { type GraphQLResolveInfo, getNamedType, isAbstractType } from 'graphql';
import type { Context } from '../../context.ts';
import { withScope } from '../../graph/authorization.ts';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { type ArgumentsBelow, withCost } from '../../graph/cost/field-cost.ts';
import { argumentsOfNext, selectionOf } from '../../graph/cost/operation-info.ts';
import { badUserInput } from '../../graph/errors.ts';
import { billNodes } from '../../graph/node.ts';
import { derivedField, executedField, viewField } from '../../graph/plan/plannable.ts';
import { parseAddress } from '../../graph/scalars.ts';
import { MAX_HOURS, unionOf } from '../../upstream/page.ts';
import { type Derived, globalIdOr, lowLiquidityOf } from '../../upstream/parse/derived.ts';
import { chainArguments } from '../chains/chains-schema.ts';
import { listField, selectedDetails } from '../list-field.ts';
import { detailsOfHours, HistoricalPrice, pricesAt } from '../tokens/historical-price.ts';
import {
  NATIVE,
  Token,
  TokenInput,
  type TokenInputValue,
  type TokenRecord,
  textOf,
  tokenKeyIn,
  tokenKeyOf,
} from '../tokens/token.ts';
import { Wallet } from '../wallet.ts';
import { type BalanceKey, noteList, readBalance } from './balance-reader.ts';
import {
  balancesLookup,
  hasPoolOf,
  type LiquidityPoolRecord,
  type ListedBalance,
  singleBalanceLookup,
} from './balances-rest.ts';

/** What a wallet holds of one token. The same type, with the same id, whether a list, a look-up or a delivery tells it. */
export const Balance = builder.objectRef<ListedBalance>('Balance');

billNodes('Balance', 1, (id) => {
  const { wallet, token } = balanceKeyIn(id);
  return `${wallet} ${token.chainId}`;
});

type HistoryArgs = { readonly hoursAgo: readonly number[] };

/** The hours of all uses of `priceHistory` of the balances that are selected below a field. */
export const historyOf = (below: ArgumentsBelow): readonly number[] =>
  below('priceHistory', Balance.name).flatMap((args) => (args as HistoryArgs).hoursAgo);

/** As `historyOf`, of the field that is being resolved. */
export const historyBelow = (info: GraphQLResolveInfo): readonly number[] => {
  const named = getNamedType(info.returnType);
  const type = isAbstractType(named) ? info.schema.getType(Balance.name) : named;
  return type === undefined
    ? []
    : historyOf((field, of = '') => argumentsOfNext(selectionOf(info), type, info.fieldNodes, of, field));
};

const detailsNamedBelow = selectedDetails(balancesLookup);

/** Reads a balance with the details that are selected of it. Throws BAD_USER_INPUT. */
export const readSelected = (
  context: Context,
  key: BalanceKey,
  info: GraphQLResolveInfo,
): Promise<ListedBalance | null> =>
  readBalance(context, key, unionOf([detailsNamedBelow(info, context), detailsOfHours(historyBelow(info))]));

const ID = derivedField(globalIdOr(NATIVE, 'Balance', 'owner', 'chainId', 'address'));

builder.node(Balance, {
  description:
    'What a wallet holds of one token. Prices from small pools are often absurd: see `lowLiquidity`. `node` refetches it for 1 compute unit, or none, as `Wallet.balance` does.',
  extensions: withScope('wallets'),
  id: {
    description:
      'The global id of the balance, of its wallet and its token: the same in lists, look-ups and deliveries.',
    extensions: ID.extensions,
    resolve: (balance) => `${balance.owner}:${textOf(balance)}`,
  },
  loadWithoutCache: (id, context, info) => {
    const key = balanceKeyIn(id);
    context.chains.assertSupported('BALANCES', [key.token.chainId]);
    return readSelected(context, key, info);
  },
  fields: (t) => ({
    wallet: t.field({
      type: Wallet,
      description: 'The wallet that holds it.',
      ...viewField<ListedBalance, typeof Wallet.$inferType>({ address: 'owner' }),
    }),
    token: t.field({
      type: Token,
      description: 'The token, as the balance describes it: selecting it causes no request.',
      ...viewField<ListedBalance, TokenRecord>({
        chainId: 'chainId',
        chain: 'chain',
        address: 'address',
        symbol: 'symbol',
        name: 'name',
        decimals: 'decimals',
        logo: 'logo',
      }),
    }),
    chain: t.exposeString('chain', {
      nullable: true,
      description: "The service's name for the chain. Null where only the id is known.",
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    amount: t.expose('amount', {
      type: 'BigInt',
      description: "The amount in the token's smallest unit: see `Token.decimals`.",
    }),
    valueUsd: t.expose('valueUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The value of the amount in US dollars. Null when the token has no price.',
    }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The price of one whole token in US dollars. Null when the token has none.',
    }),
    lowLiquidity: t.boolean({
      nullable: true,
      description:
        'Whether so little liquidity is behind the price that it is unreliable: as the service states it, or the pool has less than 10,000 US dollars. False for the native asset. Null when neither is known.',
      ...derivedField(lowLiquidityOf('statedLowLiquidity', 'poolSizeUsd', 'address')),
    }),
    poolSizeUsd: t.expose('poolSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'The liquidity of the pools that the price comes from, in US dollars. Null for the native asset, and when the service omits it.',
    }),
    tokenUrl: t.expose('tokenUrl', {
      type: 'URL',
      ...nullIfOmitted("The URL of the token's website."),
    }),
    priceHistory: t.field({
      type: [HistoricalPrice],
      description: `The prices of earlier hours, in the order of the argument. The balances of one list, and one balance, take at most ${MAX_HOURS} different hours. They cost nothing.`,
      args: {
        hoursAgo: t.arg({
          type: ['Int'],
          required: true,
          description: `How many hours ago: at most ${MAX_HOURS} whole hours, each at least 1.`,
        }),
      },
      extensions: {
        ...executedField('priceHistory'),
        ...withCost<HistoryArgs>({ count: ({ hoursAgo }) => hoursAgo.length }),
      },
      resolve: (balance, { hoursAgo }) => pricesAt(balance, hoursAgo),
    }),
    pool: t.expose('pool', {
      type: LiquidityPool,
      nullable: true,
      description:
        'The pool that the price comes from. Null for the native asset, and when the service knows none.',
    }),
  }),
});

/** The tokens of a pool, in whichever form they came. What is not an address is left out. */
const POOL_TOKENS: Derived<readonly string[]> = {
  entry: {
    kind: 'value',
    properties: ['listedTokens', 'token0', 'token1'],
    as: 'address',
    isNullable: false,
    isList: true,
  },
  derive(record) {
    const { listedTokens, token0, token1 } = record as LiquidityPoolRecord;
    const tokens: readonly unknown[] = Array.isArray(listedTokens) ? listedTokens : [token0, token1];
    return tokens.flatMap((token) =>
      typeof token === 'string' && /^0x[0-9a-fA-F]{40}$/.test(token) ? token.toLowerCase() : [],
    );
  },
};

const LiquidityPool = builder.objectRef<LiquidityPoolRecord>('LiquidityPool').implement({
  description: 'A pool of a decentralised exchange that gives a token its price.',
  fields: (t) => ({
    type: t.exposeString(
      'type',
      nullIfOmitted('The kind of the pool, such as uniswap_v3: the service may name others at any time.'),
    ),
    address: t.expose('address', { type: 'Address', ...nullIfOmitted('The address of the pool.') }),
    chainId: t.expose('chainId', { type: 'ChainId', ...nullIfOmitted('The id of the chain of the pool.') }),
    tokens: t.field({
      type: ['Address'],
      description: 'The tokens that the pool exchanges. Empty when the service states none.',
      ...derivedField(POOL_TOKENS),
    }),
  }),
});

/** Parses the id of a balance without its type. Throws BAD_USER_INPUT. */
const balanceKeyIn = (id: string): BalanceKey => {
  const [, wallet, token] = /^(0x[0-9a-f]{40}):(.+)$/.exec(id) ?? [];
  if (wallet === undefined || token === undefined)
    throw badUserInput('Expected the id of a Balance, got something else.');
  return { wallet: parseAddress(wallet), token: tokenKeyIn(token) };
};

type BalanceArgs = { readonly token: TokenInputValue };

builder.objectField(Wallet, 'balance', (t) =>
  t.field({
    type: Balance,
    nullable: true,
    description:
      'What the wallet holds of one token. It costs 1 compute unit; none where a fresh and complete page of `balances` covers the chain, or, if the service indexes the chain itself, has the token: else the token is asked. Two or more tokens of one wallet and chain become one list of that chain, for 1 compute unit together, and 1 for each that is not among the first 1,000. Null when the wallet does not hold the token, and with an error when the look-up fails.',
    authScopes: { wallets: true },
    args: {
      token: t.arg({ type: TokenInput, required: true, description: 'Names the token.' }),
    },
    extensions: withCost<BalanceArgs>({
      lookup: ({ token }, _pricing, below) => ({
        list: [tokenKeyOf(token).chainId],
        item: textOf(tokenKeyOf(token)),
        details: detailsOfHours(historyOf(below)),
        computeUnits: 1,
        advice: 'A balance costs one compute unit: name fewer chains, or fewer wallets.',
      }),
    }),
    resolve: ({ address }, { token }, context, info) => {
      const key = tokenKeyOf(token);
      context.chains.assertKnown([key.chainId]);
      context.chains.assertSupported('BALANCES', [key.chainId]);
      return readSelected(context, { wallet: address, token: key }, info);
    },
  }),
);

/** Prices and metrics name the look-up of one balance. */
export const balance = { name: singleBalanceLookup.name, price: 1 };

const AssetClass = builder.enumType('AssetClass', {
  description: 'A class of assets.',
  values: {
    NATIVE: { description: "The chains' own currencies, such as ETH on Ethereum." },
    ERC20: { description: 'Tokens of contracts.' },
    STABLECOIN: {
      description: 'Tokens that are pegged to US dollars or euros, as the service classifies them.',
    },
  } as const,
});

export const balances = listField(Wallet, balancesLookup, {
  item: Balance,
  items: "a wallet's balances",
  description:
    "What the wallet holds, in the service's order, which it does not state: `portfolio.top` is by value. A page of 1,000 costs 1 compute unit for each chain. The service adds logos, websites and pools when the operation selects `logo`, `tokenUrl` or `pool`: there is no argument for it. Null, with an error, when the lookup fails.",
  args: {
    ...chainArguments,
    ...builder.args((t) => ({
      assetClass: t.field({
        type: AssetClass,
        description: 'Only balances of this class, a list of its own. Default: all.',
      }),
      excludeSpam: t.boolean({
        required: true,
        defaultValue: false,
        description:
          "The service's own filter, a list of its own: no tokens with less than 100 US dollars of liquidity.",
      }),
      excludeUnpriced: t.boolean({
        required: true,
        defaultValue: false,
        description: "The service's own filter, a list of its own: no tokens without a price.",
      }),
      minPoolSizeUsd: t.field({
        type: 'Decimal',
        description:
          'Leaves out tokens whose price comes from a smaller pool, in US dollars; where the pool is unknown, those that the service states to have low liquidity. The native asset always stays. The gateway filters the pages that all filters share, so it costs nothing beside them, and reads at most 5 pages for one of its own. Default: no filter.',
      }),
    })),
  },
  list: ({ address }, chains, { assetClass = null, excludeSpam, excludeUnpriced }, context) => {
    const list = { address, chains, assetClass, excludeSpam, excludeUnpriced };
    noteList(context.lookups, list);
    return list;
  },
  reading: ({ assetClass = null, excludeSpam, excludeUnpriced, minPoolSizeUsd = null }, below) => ({
    filters: [assetClass, excludeSpam, excludeUnpriced],
    details: detailsOfHours(historyOf(below)),
    filter: minPoolSizeUsd === null ? null : { key: minPoolSizeUsd, passes: hasPoolOf(minPoolSizeUsd) },
  }),
  advice:
    'Balances cost one compute unit for each chain and 1,000 balances, up to five times with minPoolSizeUsd: select fewer chains by chainIds.',
});
