import { builder, NULL_WHEN_OMITTED } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { NO_DETAILS } from '../upstream/page.ts';
import { marketLookup, type TokenMarket as TokenMarketShape } from './market-rest.ts';
import { NATIVE, Token, textOf } from './token.ts';

const TokenMarket = builder.objectRef<TokenMarketShape>('TokenMarket').implement({
  description: 'What the service says about a token now.',
  fields: (t) => ({
    symbol: t.exposeString('symbol', {
      nullable: true,
      description: `The symbol, such as USDC. ${NULL_WHEN_OMITTED}`,
    }),
    name: t.exposeString('name', {
      nullable: true,
      description: `The name, such as USD Coin. ${NULL_WHEN_OMITTED}`,
    }),
    decimals: t.exposeInt('decimals', {
      nullable: true,
      description: `One whole token is 10 to this power of its smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    logo: t.expose('logo', {
      type: 'URL',
      nullable: true,
      description: `The URL of the token's picture. ${NULL_WHEN_OMITTED}`,
    }),
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
      nullable: true,
      description: `The market capitalization in US dollars. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

builder.objectField(Token, 'market', (t) =>
  t.field({
    type: TokenMarket,
    nullable: true,
    description:
      'What the service says about the token now. It costs 2 compute units for each token, and all clients share it for half a minute. Null, without an error, when the service does not know the token; null, with an error, when the lookup fails or does not support the chain.',
    authScopes: { wallets: true },
    extensions: withCost({
      lookup: () => ({
        list: [],
        computeUnits: marketLookup.price,
        advice:
          'The market of a token costs 2 compute units: where an item has priceUsd, as a balance does, that costs nothing.',
      }),
    }),
    resolve: ({ chainId, address = null }, _args, context) => {
      context.chains.assertKnown([chainId]);
      context.chains.assertSupported('TOKEN_INFO', [chainId]);
      const key = {
        address: textOf({ chainId, address }),
        chains: String(chainId),
        token: address ?? NATIVE,
      };
      return marketLookup.read(context.lookups, key, NO_DETAILS);
    },
  }),
);

export const market = marketLookup;
