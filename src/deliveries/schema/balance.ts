import type { Context } from '../../context.ts';
import { builder, NULL_WHEN_OMITTED } from '../../graph/builder.ts';
import { Balance } from '../../lookups/balances/balances.ts';
import type { BalanceChangeEvent } from '../events/events.ts';

const BalanceDirection = builder.enumType('BalanceDirection', {
  description: 'The direction of a transfer, seen from the subscribed address.',
  values: {
    IN: { description: 'The subscribed address receives the asset.' },
    OUT: { description: 'The subscribed address sends the asset.' },
  },
});

export const BalanceChange = builder.objectRef<BalanceChangeEvent>('BalanceChange').implement({
  description: 'A change of a balance of a subscribed address.',
  fields: (t) => ({
    subscribedAddress: t.expose('subscribedAddress', {
      type: 'Address',
      nullable: true,
      description: `The subscribed address whose balance changed. ${NULL_WHEN_OMITTED}`,
    }),
    counterparty: t.expose('counterparty', {
      type: 'Address',
      nullable: true,
      description: `The other side of the transfer. ${NULL_WHEN_OMITTED}`,
    }),
    transactionHash: t.expose('transactionHash', {
      type: 'Hex',
      nullable: true,
      description: `The hash of the transaction. ${NULL_WHEN_OMITTED}`,
    }),
    direction: t.expose('direction', {
      type: BalanceDirection,
      nullable: true,
      description: `The direction of the transfer. ${NULL_WHEN_OMITTED}`,
    }),
    amountBefore: t.expose('amountBefore', {
      type: 'BigInt',
      nullable: true,
      description: `The balance before the change, in the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    amountAfter: t.expose('amountAfter', {
      type: 'BigInt',
      nullable: true,
      description: `The balance after the change, in the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    amountDelta: t.expose('amountDelta', {
      type: 'BigInt',
      nullable: true,
      description: `The change of the balance, in the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    valueUsdBefore: t.expose('valueUsdBefore', {
      type: 'Decimal',
      nullable: true,
      description: `The value of the balance before the change, in US dollars. ${NULL_WHEN_OMITTED}`,
    }),
    valueUsdAfter: t.expose('valueUsdAfter', {
      type: 'Decimal',
      nullable: true,
      description: `The value of the balance after the change, in US dollars. ${NULL_WHEN_OMITTED}`,
    }),
    valueUsdDelta: t.expose('valueUsdDelta', {
      type: 'Decimal',
      nullable: true,
      description: `The change of the value of the balance, in US dollars. ${NULL_WHEN_OMITTED}`,
    }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: `The price of one whole token in US dollars. ${NULL_WHEN_OMITTED}`,
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'The token contract. Null for the native asset, and when the service omits it.',
    }),
    tokenSymbol: t.exposeString('tokenSymbol', {
      nullable: true,
      description: `The symbol of the token, such as USDC. ${NULL_WHEN_OMITTED}`,
    }),
    tokenName: t.exposeString('tokenName', {
      nullable: true,
      description: `The name of the token, such as USD Coin. ${NULL_WHEN_OMITTED}`,
    }),
    tokenDecimals: t.exposeInt('tokenDecimals', {
      nullable: true,
      description: `The decimals of the token: one whole token is 10 to this power of its smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    tokenLogo: t.expose('tokenLogo', {
      type: 'URL',
      nullable: true,
      description: `The URL of the token's picture: http, https or ipfs. ${NULL_WHEN_OMITTED}`,
    }),
    lowLiquidity: t.exposeBoolean('lowLiquidity', {
      nullable: true,
      description: `Whether the token has so little liquidity that its price is unreliable. ${NULL_WHEN_OMITTED}`,
    }),
    poolSizeUsd: t.expose('poolSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description: `The value of the pool from which the price comes, in US dollars. ${NULL_WHEN_OMITTED}`,
    }),
    balance: t.field({
      type: Balance,
      nullable: true,
      description:
        'The balance after the change, under the id that `Wallet.balances` gives it: a client with a store of objects by id shows it without a request. Null when the address, the token, the chain or the amount is unknown.',
      resolve: (event, _args, { chains }) => balanceAfter(event, chains),
    }),
  }),
});

/** What a lookup would say of the balance now, as far as the event tells it. */
const balanceAfter = (
  event: BalanceChangeEvent,
  chains: Context['chains'],
): typeof Balance.$inferType | null => {
  const { subscribedAddress, chainId, tokenAddress, amountAfter } = event;
  if (subscribedAddress === null || chainId === null || tokenAddress === null || amountAfter === null)
    return null;
  return {
    owner: subscribedAddress,
    chain: chains.find(chainId)?.name ?? null,
    chainId,
    address: tokenAddress,
    amount: amountAfter,
    symbol: event.tokenSymbol,
    name: event.tokenName,
    decimals: event.tokenDecimals,
    priceUsd: event.priceUsd,
    valueUsd: event.valueUsdAfter,
    poolSizeUsd: event.poolSizeUsd,
    statedLowLiquidity: event.lowLiquidity,
    logo: event.tokenLogo,
    url: null,
    priceHistory: null,
    pool: null,
  };
};
