import { builder } from '../../graph/builder.ts';
import { UNSAID } from '../../graph/descriptions.ts';
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
      description: UNSAID,
    }),
    counterparty: t.expose('counterparty', {
      type: 'Address',
      nullable: true,
      description: `The other side. ${UNSAID}`,
    }),
    transactionHash: t.expose('transactionHash', { type: 'Hex', nullable: true, description: UNSAID }),
    direction: t.expose('direction', { type: BalanceDirection, nullable: true, description: UNSAID }),
    amountBefore: t.expose('amountBefore', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${UNSAID}`,
    }),
    amountAfter: t.expose('amountAfter', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${UNSAID}`,
    }),
    amountDelta: t.expose('amountDelta', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${UNSAID}`,
    }),
    valueUsdBefore: t.exposeFloat('valueUsdBefore', { nullable: true, description: UNSAID }),
    valueUsdAfter: t.exposeFloat('valueUsdAfter', { nullable: true, description: UNSAID }),
    valueUsdDelta: t.exposeFloat('valueUsdDelta', { nullable: true, description: UNSAID }),
    priceUsd: t.exposeFloat('priceUsd', { nullable: true, description: `Of one whole token. ${UNSAID}` }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'Null for the native asset, and where the service does not say.',
    }),
    tokenSymbol: t.exposeString('tokenSymbol', { nullable: true, description: UNSAID }),
    tokenName: t.exposeString('tokenName', { nullable: true, description: UNSAID }),
    tokenDecimals: t.exposeInt('tokenDecimals', { nullable: true, description: UNSAID }),
    tokenLogo: t.expose('tokenLogo', {
      type: 'URL',
      nullable: true,
      description: `A picture of the token: http, https or ipfs. ${UNSAID}`,
    }),
    lowLiquidity: t.exposeBoolean('lowLiquidity', {
      nullable: true,
      description: `Whether so little of the token is for sale that its price says little. ${UNSAID}`,
    }),
    poolSizeUsd: t.exposeFloat('poolSizeUsd', {
      nullable: true,
      description: `Value of the pool that the price comes from, in US dollars. ${UNSAID}`,
    }),
  }),
});
