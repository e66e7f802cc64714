import { builder, NULL_WHEN_OMITTED } from '../../graph/builder.ts';
import type {
  Swap as SwapShape,
  SwapSide as SwapSideShape,
  TokenInfo as TokenInfoShape,
} from '../events/tokens.ts';

export const TokenInfo = builder.objectRef<TokenInfoShape>('TokenInfo').implement({
  description: 'An asset as the service describes it.',
  fields: (t) => ({
    address: t.expose('address', {
      type: 'Address',
      nullable: true,
      description: 'The token contract. Null for the native asset, and when the service omits it.',
    }),
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
      description: `The URL of the token's picture: http, https or ipfs. ${NULL_WHEN_OMITTED}`,
    }),
    priceUsd: t.exposeFloat('priceUsd', {
      nullable: true,
      description: 'The price of one whole token in US dollars. Null when it is unknown.',
    }),
  }),
});

const SwapSide = builder.objectRef<SwapSideShape>('SwapSide').implement({
  description: 'One side of a swap.',
  fields: (t) => ({
    token: t.expose('token', {
      type: TokenInfo,
      nullable: true,
      description: `The token. ${NULL_WHEN_OMITTED}`,
    }),
    value: t.expose('value', {
      type: 'BigInt',
      nullable: true,
      description: `The amount in the token's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

export const Swap = builder.objectRef<SwapShape>('Swap').implement({
  description: 'A trade of one token for another, seen from the trader.',
  fields: (t) => ({
    from: t.expose('from', {
      type: SwapSide,
      nullable: true,
      description: `The token that was sold. ${NULL_WHEN_OMITTED}`,
    }),
    to: t.expose('to', {
      type: SwapSide,
      nullable: true,
      description: `The token that was bought. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});
