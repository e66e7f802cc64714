import { builder, NULL_WHEN_OMITTED } from '../../graph/builder.ts';
import type { BalanceChangeEvent } from '../events/events.ts';

const BalanceDirection = builder.enumType('BalanceDirection', {
  description: 'Which way an asset went.',
  values: {
    IN: { description: 'To the subscribed address.' },
    OUT: { description: 'From the subscribed address.' },
  },
});

export const BalanceChange = builder.objectRef<BalanceChangeEvent>('BalanceChange').implement({
  description: 'What a subscribed address holds has changed.',
  fields: (t) => ({
    subscribedAddress: t.expose('subscribedAddress', {
      type: 'Address',
      nullable: true,
      description: NULL_WHEN_OMITTED,
    }),
    counterparty: t.expose('counterparty', {
      type: 'Address',
      nullable: true,
      description: `The other side. ${NULL_WHEN_OMITTED}`,
    }),
    transactionHash: t.expose('transactionHash', {
      type: 'Hex',
      nullable: true,
      description: NULL_WHEN_OMITTED,
    }),
    direction: t.expose('direction', {
      type: BalanceDirection,
      nullable: true,
      description: NULL_WHEN_OMITTED,
    }),
    amountBefore: t.expose('amountBefore', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    amountAfter: t.expose('amountAfter', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    amountDelta: t.expose('amountDelta', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    valueUsdBefore: t.exposeFloat('valueUsdBefore', { nullable: true, description: NULL_WHEN_OMITTED }),
    valueUsdAfter: t.exposeFloat('valueUsdAfter', { nullable: true, description: NULL_WHEN_OMITTED }),
    valueUsdDelta: t.exposeFloat('valueUsdDelta', { nullable: true, description: NULL_WHEN_OMITTED }),
    priceUsd: t.exposeFloat('priceUsd', {
      nullable: true,
      description: `Of one whole token. ${NULL_WHEN_OMITTED}`,
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'Null for the native asset, and where the service does not say.',
    }),
    tokenSymbol: t.exposeString('tokenSymbol', { nullable: true, description: NULL_WHEN_OMITTED }),
    tokenName: t.exposeString('tokenName', { nullable: true, description: NULL_WHEN_OMITTED }),
    tokenDecimals: t.exposeInt('tokenDecimals', { nullable: true, description: NULL_WHEN_OMITTED }),
    tokenLogo: t.expose('tokenLogo', {
      type: 'URL',
      nullable: true,
      description: `A picture of the token: http, https or ipfs. ${NULL_WHEN_OMITTED}`,
    }),
    lowLiquidity: t.exposeBoolean('lowLiquidity', {
      nullable: true,
      description: `Whether so little of the token is for sale that its price says little. ${NULL_WHEN_OMITTED}`,
    }),
    poolSizeUsd: t.exposeFloat('poolSizeUsd', {
      nullable: true,
      description: `Value of the pool that the price comes from, in US dollars. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});
