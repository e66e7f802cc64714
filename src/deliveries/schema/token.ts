import { builder, NULL_WHEN_OMITTED } from '../../graph/builder.ts';
import type {
  Swap as SwapShape,
  SwapSide as SwapSideShape,
  TokenInfo as TokenInfoShape,
} from '../events/tokens.ts';

export const TokenInfo = builder.objectRef<TokenInfoShape>('TokenInfo').implement({
  description: 'What the service says of an asset.',
  fields: (t) => ({
    address: t.expose('address', {
      type: 'Address',
      nullable: true,
      description: 'The contract. Null for the native asset, and where the service does not say.',
    }),
    symbol: t.exposeString('symbol', { nullable: true, description: `Such as USDC. ${NULL_WHEN_OMITTED}` }),
    name: t.exposeString('name', { nullable: true, description: `Such as USD Coin. ${NULL_WHEN_OMITTED}` }),
    decimals: t.exposeInt('decimals', {
      nullable: true,
      description: `One whole token is 10 to this power of its smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    logo: t.expose('logo', {
      type: 'URL',
      nullable: true,
      description: `A picture of it: http, https or ipfs. ${NULL_WHEN_OMITTED}`,
    }),
    priceUsd: t.exposeFloat('priceUsd', {
      nullable: true,
      description: 'Of one whole token, in US dollars. Null when the price is not known.',
    }),
  }),
});

const SwapSide = builder.objectRef<SwapSideShape>('SwapSide').implement({
  description: 'One side of a swap.',
  fields: (t) => ({
    token: t.expose('token', { type: TokenInfo, nullable: true, description: NULL_WHEN_OMITTED }),
    value: t.expose('value', {
      type: 'BigInt',
      nullable: true,
      description: `In the token's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

export const Swap = builder.objectRef<SwapShape>('Swap').implement({
  description: 'Both sides of a trade, as the trader sees it.',
  fields: (t) => ({
    from: t.expose('from', {
      type: SwapSide,
      nullable: true,
      description: `What was sold. ${NULL_WHEN_OMITTED}`,
    }),
    to: t.expose('to', {
      type: SwapSide,
      nullable: true,
      description: `What was bought. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});
