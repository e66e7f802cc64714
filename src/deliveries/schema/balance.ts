import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from '../../context.ts';
import { forbidden } from '../../graph/authorization.ts';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { selectsBelow } from '../../graph/cost/operation-info.ts';
import { derivedField } from '../../graph/plan/plannable.ts';
import { knownOrError } from '../../graph/semantic-non-null.ts';
import { Balance, readSelected } from '../../lookups/balances/balances.ts';
import { wordOf } from '../../upstream/parse/derived.ts';
import { ASSET_TYPE_VALUES, AssetType } from '../../webhooks/schema/webhook.ts';
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
      ...knownOrError('The subscribed address whose balance changed.'),
    }),
    counterparty: t.expose('counterparty', {
      type: 'Address',
      ...nullIfOmitted('The other side of the transfer.'),
    }),
    transactionHash: t.expose('transactionHash', {
      type: 'Hex',
      ...knownOrError('The hash of the transaction.'),
    }),
    direction: t.expose('direction', {
      type: BalanceDirection,
      ...knownOrError('The direction of the transfer.'),
    }),
    amountBefore: t.expose('amountBefore', {
      type: 'BigInt',
      nullable: true,
      description:
        "The balance before the change, in the asset's smallest unit. Null when the service omits it: of an ERC-721, and of the native asset but for the first change of a block, where an index of one's own chains says what was there at the end of the block before.",
    }),
    amountAfter: t.expose('amountAfter', {
      type: 'BigInt',
      nullable: true,
      description:
        "The balance after the change, in the asset's smallest unit. Null when the service omits it: of an ERC-721, and of the native asset but for the last change of a block, where an index of one's own chains does.",
    }),
    amountDelta: t.expose('amountDelta', {
      type: 'BigInt',
      ...knownOrError(
        "The change of the balance, in the asset's smallest unit; of the native asset, without the fee that its sender paid.",
      ),
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
    assetType: t.field({
      type: AssetType,
      nullable: true,
      description:
        'The kind of the asset. Null when the service does not say it, or this gateway does not know it.',
      ...derivedField(wordOf('assetTypeName', ASSET_TYPE_VALUES)),
    }),
    tokenId: t.expose('tokenId', {
      type: 'BigInt',
      nullable: true,
      description: 'The token id of an NFT. Null for other assets, and when the service omits it.',
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
        'The balance after the change, under the id that `Wallet.balances` gives it: a client with a store of objects by id shows it without a request. What the event does not say, `pool`, `tokenUrl` and `priceHistory`, is read as `Wallet.balance` reads it, for 1 compute unit, and needs the scope `wallets` as well. Null when the address, the token, the chain or the amount is unknown, where the event of a newer block came before, and for an NFT: see `Wallet.collectibles`.',
      extensions: withCost({
        lookup: (_args, _pricing, below) => ({
          list: ['balance'],
          computeUnits: READ.some((field) => below(field, Balance.name).length > 0) ? 1 : 0,
          advice:
            'An event says the amount and the price of a balance: select pool, tokenUrl and priceHistory of Wallet.balance instead.',
        }),
      }),
      resolve: (event, _args, context, info) => balanceAfter(event, context, info),
    }),
  }),
});

/** The fields of a balance that no event says. */
const READ = ['pool', 'tokenUrl', 'priceHistory'];
const READ_NAMES = new Set(READ);

/** What a lookup would say of the balance now, as far as the event tells it; the rest by the lookup itself. */
const balanceAfter = async (
  event: BalanceChangeEvent,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<typeof Balance.$inferType | null> => {
  const { subscribedAddress, chainId, tokenAddress, tokenId, amountAfter, assetTypeName, isCurrent } = event;
  if (subscribedAddress === null || chainId === null || amountAfter === null || !isCurrent) return null;
  const isNative = tokenAddress === null && assetTypeName === 'native';
  const isCoin = tokenAddress !== null && tokenId === null && (assetTypeName ?? 'erc20') === 'erc20';
  if (!isNative && !isCoin) return null;
  const key = { wallet: subscribedAddress, token: { chainId, address: tokenAddress } };
  const isRead = selectsBelow(info, READ_NAMES);
  // The lookup is billed: who may only read deliveries may not begin one.
  if (isRead && !context.scopes.has('wallets')) throw forbidden('wallets');
  const read = isRead ? await readSelected(context, key, info) : null;
  return {
    owner: subscribedAddress,
    chain: context.chains.find(chainId)?.name ?? null,
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
    tokenUrl: read?.tokenUrl ?? null,
    priceHistory: read?.priceHistory ?? null,
    pool: read?.pool ?? null,
  };
};
