import { getNamedType } from 'graphql';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { argumentsBelow, selectionOf } from '../../graph/cost/operation-info.ts';
import { badUserInput } from '../../graph/errors.ts';
import { detailsOf, hourDetail, MAX_HOURS } from '../../upstream/page.ts';
import { HistoricalPrice } from './historical-price.ts';
import { marketLookup, type TokenMarketShape } from './market-rest.ts';
import { assertDescribed, marketOf, Token } from './token.ts';

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
            'The market of a token costs 2 compute units: priceUsd of a balance costs nothing, and Query.tokens has the markets of the tokens that you name.',
        };
      },
    }),
    resolve: async ({ chainId, address = null }, _args, context, info) => {
      assertDescribed(context, chainId);
      const key = marketOf({ chainId, address });
      const uses = argumentsBelow(
        selectionOf(info),
        getNamedType(info.returnType),
        info.fieldNodes,
        'priceHistory',
      );
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
