import { getNamedType } from 'graphql';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { argumentsBelow } from '../../graph/cost/operation-info.ts';
import { badUserInput } from '../../graph/errors.ts';
import { isObject } from '../../lib/json/exact-json.ts';
import { itemLookup } from '../../upstream/lookup.ts';
import { detailsOf, hourDetail, hoursIn, MAX_HOURS } from '../../upstream/page.ts';
import { assertAsked } from '../../upstream/parse/asked-chains.ts';
import { malformed, optional, readChainId, readList } from '../../upstream/parse/fields.ts';
import {
  nullable,
  type RecordTable,
  type RecordValue,
  readRecord,
  required,
} from '../../upstream/parse/record.ts';
import { HistoricalPrice } from './historical-price.ts';
import { NATIVE, Token, textOf } from './token.ts';

const MARKET = {
  name: 'market',
  fields: {
    symbol: nullable('symbol', 'lenientString'),
    name: nullable('name', 'lenientString'),
    decimals: nullable('decimals', 'tokenDecimals'),
    logo: nullable('logo', 'webUrl'),
    priceUsd: nullable('price_usd', 'decimal'),
    poolSizeUsd: nullable('pool_size', 'decimal'),
    totalSupply: nullable('total_supply', 'integer'),
    fullyDilutedValueUsd: nullable('fully_diluted_value', 'decimal'),
    marketCapUsd: nullable('market_cap', 'decimal'),
    priceHistory: {
      from: 'historical_prices',
      records: {
        name: 'historicalPrice',
        fields: {
          hoursAgo: required('offset_hours', 'int'),
          priceUsd: nullable('price_usd', 'decimal'),
        },
      },
      mode: 'lenient',
    },
  },
} as const satisfies RecordTable;

/** A token, as the key of what the service says about it. */
type MarketOf = {
  /** The chain's id and the token's address, or `native`, with a colon between. */
  readonly address: string;
  readonly chains: string;
  /** The token's address, or `native`. */
  readonly token: string;
};

const readMarket = readRecord(MARKET);

/** What the service says about one token now. */
const marketLookup = itemLookup({
  name: 'market',
  path: ({ token }: MarketOf) => ['v1', 'evm', 'token-info', token],
  query: (_market, details) => ({ historical_prices: hoursIn(detailsOf(details)).join() || undefined }),
  price: 2,
  // Prices move, but an answer costs two compute units, and all clients share it.
  timesHead: 15,
  supportedAs: 'TOKEN_INFO',
  read(body, chains) {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    const [market] = readList(body.tokens, 'tokens');
    if (market === undefined) return null;
    if (!isObject(market)) throw malformed('tokens[0]', 'an object', market);
    const chainId = optional(readChainId)(market.chain_id, 'chain_id');
    if (chains !== null) assertAsked(chains, { chainId, chain: null });
    return readMarket(market);
  },
});

type TokenMarketShape = RecordValue<typeof MARKET>;

/** The most hours of one `priceHistory`. */
const MAX_MARKET_HOURS = 12;

type HistoryArgs = { readonly hoursAgo: readonly number[] };

/** Throws BAD_USER_INPUT. */
const checkedHours = ({ hoursAgo }: HistoryArgs): readonly number[] => {
  if (hoursAgo.length > MAX_MARKET_HOURS)
    throw badUserInput(`Expected hoursAgo of at most ${MAX_MARKET_HOURS} hours, got ${hoursAgo.length}.`);
  const wrong = hoursAgo.find((hours) => hours < 1);
  if (wrong !== undefined) throw badUserInput(`Expected hoursAgo of whole hours from 1 on, got ${wrong}.`);
  return hoursAgo;
};

/** Divides the hours of all uses of `priceHistory` into those of one request each; without hours, one request for no hours. */
const requestsOf = (uses: readonly Readonly<Record<string, unknown>>[]): readonly (readonly number[])[] => {
  const hours = uses.flatMap((args) => {
    const { hoursAgo } = args as HistoryArgs;
    // One with too many or wrong hours fails by itself.
    return hoursAgo.length > MAX_MARKET_HOURS || hoursAgo.some((each) => each < 1) ? [] : hoursAgo;
  });
  const sorted = [...new Set(hours)].toSorted((one, other) => one - other);
  const requests = [sorted.slice(0, MAX_HOURS)];
  for (let at = MAX_HOURS; at < sorted.length; at += MAX_HOURS)
    requests.push(sorted.slice(at, at + MAX_HOURS));
  return requests;
};

/** What one request has told, and the prices of earlier hours by those, each from the request that has asked for it. */
type MarketWithHistory = TokenMarketShape & {
  readonly answers: ReadonlyMap<number, Promise<TokenMarketShape | null>>;
};

const TokenMarket = builder.objectRef<MarketWithHistory>('TokenMarket').implement({
  description: 'What the service says about a token now.',
  fields: (t) => ({
    symbol: t.exposeString('symbol', nullIfOmitted('The symbol, such as USDC.')),
    name: t.exposeString('name', nullIfOmitted('The name, such as USD Coin.')),
    decimals: t.exposeInt(
      'decimals',
      nullIfOmitted('One whole token is 10 to this power of its smallest unit.'),
    ),
    logo: t.expose('logo', { type: 'URL', ...nullIfOmitted("The URL of the token's picture.") }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The price of one whole token in US dollars. Null when it has none.',
    }),
    poolSizeUsd: t.expose('poolSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'The liquidity of the pools that the price comes from, in US dollars. Null for the native asset, and when the service omits it.',
    }),
    totalSupply: t.expose('totalSupply', {
      type: 'BigInt',
      nullable: true,
      description:
        'The supply, in the smallest unit. Null for the native asset, and when the service omits it.',
    }),
    fullyDilutedValueUsd: t.expose('fullyDilutedValueUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'The value of the whole supply at the price, in US dollars. Null for the native asset, and when the service omits it.',
    }),
    marketCapUsd: t.expose('marketCapUsd', {
      type: 'Decimal',
      ...nullIfOmitted('The market capitalization in US dollars.'),
    }),
    priceHistory: t.field({
      type: [HistoricalPrice],
      description: `The prices of earlier hours, in the order of the argument. Every three hours of all uses in an operation cost ${marketLookup.price} compute units; the first three come with the market.`,
      args: {
        hoursAgo: t.arg({
          type: ['Int'],
          required: true,
          description: `How many hours ago: at most ${MAX_MARKET_HOURS} whole hours, each at least 1.`,
        }),
      },
      extensions: withCost<HistoryArgs>({ count: (args) => checkedHours(args).length }),
      resolve: ({ answers }, args) =>
        Promise.all(
          checkedHours(args).map(async (hoursAgo) => {
            const answer = (await answers.get(hoursAgo)) ?? null;
            const then = answer?.priceHistory.find((price) => price.hoursAgo === hoursAgo);
            return { hoursAgo, priceUsd: then?.priceUsd ?? null, priceNowUsd: answer?.priceUsd ?? null };
          }),
        ),
    }),
  }),
});

builder.objectField(Token, 'market', (t) =>
  t.field({
    type: TokenMarket,
    nullable: true,
    description:
      'What the service says about the token now. It costs 2 compute units for each token, with up to three hours of `priceHistory`, and all clients share it for half a minute. Null, without an error, when the service does not know the token; null, with an error, when the lookup fails or does not support the chain.',
    authScopes: { wallets: true },
    extensions: withCost({
      lookup(_args, _pricing, below) {
        const requests = requestsOf(below('priceHistory'));
        return {
          list: requests,
          computeUnits: marketLookup.price * requests.length,
          advice:
            'The market of a token costs 2 compute units: priceUsd of an item, as of a balance or an activity, costs nothing, and Query.tokens has the markets of the tokens that you name.',
        };
      },
    }),
    resolve: async ({ chainId, address = null }, _args, context, info) => {
      context.chains.assertKnown([chainId]);
      context.chains.assertSupported('TOKEN_INFO', [chainId]);
      const key = {
        address: textOf({ chainId, address }),
        chains: String(chainId),
        token: address ?? NATIVE,
      };
      const { schema, fieldNodes, variableValues } = info;
      const operation = {
        schema,
        variableValues,
        fragments: new Map(
          Object.entries(info.fragments).flatMap(([name, fragment]) =>
            fragment ? [[name, fragment] as const] : [],
          ),
        ),
      };
      const uses = argumentsBelow(operation, getNamedType(info.returnType), fieldNodes, 'priceHistory');
      const answers = requestsOf(uses).map((hours) => {
        const answer = marketLookup.read(context.lookups, key, detailsOf(hours.map(hourDetail)));
        // Only the prices of these hours fail with it.
        answer.catch(() => {});
        return { hours, answer };
      });
      const market = await answers[0]?.answer;
      if (!market) return null;
      const byHour = answers.flatMap(({ hours, answer }) => hours.map((each) => [each, answer] as const));
      return { ...market, answers: new Map(byHour) };
    },
  }),
);

export const market = marketLookup;
