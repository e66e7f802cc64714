import type { Context } from '../../context.ts';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
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
      ...nullIfOmitted('The subscribed address whose balance changed.'),
    }),
    counterparty: t.expose('counterparty', {
      type: 'Address',
      ...nullIfOmitted('The other side of the transfer.'),
    }),
    transactionHash: t.expose('transactionHash', {
      type: 'Hex',
      ...nullIfOmitted('The hash of the transaction.'),
    }),
    direction: t.expose('direction', {
      type: BalanceDirection,
      ...nullIfOmitted('The direction of the transfer.'),
    }),
    amountBefore: t.expose('amountBefore', {
      type: 'BigInt',
      ...nullIfOmitted("The balance before the change, in the asset's smallest unit."),
    }),
    amountAfter: t.expose('amountAfter', {
      type: 'BigInt',
      ...nullIfOmitted("The balance after the change, in the asset's smallest unit."),
    }),
    amountDelta: t.expose('amountDelta', {
      type: 'BigInt',
      ...nullIfOmitted("The change of the balance, in the asset's smallest unit."),
    }),
    valueUsdBefore: t.expose('valueUsdBefore', {
      type: 'Decimal',
      ...nullIfOmitted('The value of the balance before the change, in US dollars.'),
    }),
    valueUsdAfter: t.expose('valueUsdAfter', {
      type: 'Decimal',
      ...nullIfOmitted('The value of the balance after the change, in US dollars.'),
    }),
    valueUsdDelta: t.expose('valueUsdDelta', {
      type: 'Decimal',
      ...nullIfOmitted('The change of the value of the balance, in US dollars.'),
    }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      ...nullIfOmitted('The price of one whole token in US dollars.'),
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'The token contract. Null for the native asset, and when the service omits it.',
    }),
    tokenSymbol: t.exposeString('tokenSymbol', nullIfOmitted('The symbol of the token, such as USDC.')),
    tokenName: t.exposeString('tokenName', nullIfOmitted('The name of the token, such as USD Coin.')),
    tokenDecimals: t.exposeInt(
      'tokenDecimals',
      nullIfOmitted('The decimals of the token: one whole token is 10 to this power of its smallest unit.'),
    ),
    tokenLogo: t.expose('tokenLogo', {
      type: 'URL',
      ...nullIfOmitted("The URL of the token's picture: http, https or ipfs."),
    }),
    lowLiquidity: t.exposeBoolean(
      'lowLiquidity',
      nullIfOmitted('Whether the token has so little liquidity that its price is unreliable.'),
    ),
    poolSizeUsd: t.expose('poolSizeUsd', {
      type: 'Decimal',
      ...nullIfOmitted('The value of the pool from which the price comes, in US dollars.'),
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
