import { isObject, type RawObject } from '../../lib/json/raw-object.ts';
import { ACTIVITY_TYPES, ASSET_TYPES } from '../../upstream/parse/enums.ts';
import {
  addressOf,
  booleanOf,
  floatOf,
  hexOf,
  integerOf,
  isoTimeOf,
  oneOf,
  smallIntegerOf,
  textOf,
} from './fields.ts';
import { readAsset, readSwap, readToken } from './tokens.ts';

const DIRECTIONS = ['IN', 'OUT'] as const;

/** A transaction as upstream sent it; `src/transactions/` reads it. */
export type TransactionEvent = {
  readonly kind: 'transaction';
  readonly raw: RawObject;
  /** The item's chain; the delivery's if the item names none. */
  readonly chainId: number | null;
};

/** Integers are decimal strings, times are ISO 8601 in UTC, hex is in lower case. A field that the item lacks is null. */
export type ActivityEvent = { readonly kind: 'activity' } & ReturnType<typeof activityFields>;

/** Formatted like ActivityEvent. The body has no chain, block or time. */
export type BalanceChangeEvent = { readonly kind: 'balanceChange' } & ReturnType<typeof balanceChangeFields>;

export type DeliveryEvent = TransactionEvent | ActivityEvent | BalanceChangeEvent;

/** The delivery's fields that apply to all its events. */
type Frame = { readonly chainId: number | null; readonly subscribedAddress: string | null };

const activityFields = (raw: RawObject, { chainId, subscribedAddress }: Frame) => ({
  type: oneOf(ACTIVITY_TYPES, raw.type),
  /** Upstream's text, also for an unknown type. */
  typeName: textOf(raw.type),
  chainId: smallIntegerOf(raw.chain_id) ?? chainId,
  blockNumber: integerOf(raw.block_number),
  blockTime: isoTimeOf(raw.block_time),
  transactionHash: hexOf(raw.tx_hash),
  transactionFrom: addressOf(raw.tx_from),
  transactionTo: addressOf(raw.tx_to),
  /** In wei. */
  transactionValue: integerOf(raw.tx_value),
  assetType: oneOf(ASSET_TYPES, raw.asset_type),
  tokenAddress: addressOf(raw.token_address),
  tokenId: integerOf(raw.id),
  from: addressOf(raw.from),
  to: addressOf(raw.to),
  value: integerOf(raw.value),
  valueUsd: floatOf(raw.value_usd),
  /** The delivery's: the item has no such field. */
  subscribedAddress,
  /** The address that an approval lets spend. */
  spender: addressOf(raw.spender),
  /** Upstream's text. */
  callType: textOf(raw.call_type),
  data: hexOf(raw.data),
  /** The decoded call, as upstream wrote it. */
  function: raw.function ?? null,
  token: readToken(raw),
  swap: readSwap(raw),
});

const balanceChangeFields = (raw: RawObject) => {
  const asset = isObject(raw.asset) ? raw.asset : {};
  const token = readAsset(asset);
  return {
    subscribedAddress: addressOf(raw.subscribed_address),
    counterparty: addressOf(raw.counterparty_address),
    transactionHash: hexOf(raw.transaction_hash),
    direction: oneOf(DIRECTIONS, raw.direction),
    amountBefore: integerOf(raw.amount_before),
    amountAfter: integerOf(raw.amount_after),
    amountDelta: integerOf(raw.amount_delta),
    valueUsdBefore: floatOf(raw.value_before_usd),
    valueUsdAfter: floatOf(raw.value_after_usd),
    valueUsdDelta: floatOf(raw.value_delta_usd),
    priceUsd: floatOf(raw.price_usd),
    tokenAddress: token.address,
    tokenSymbol: token.symbol,
    tokenName: token.name,
    tokenDecimals: token.decimals,
    tokenLogo: token.logo,
    lowLiquidity: booleanOf(asset.low_liquidity),
    poolSizeUsd: floatOf(asset.pool_size_usd),
  };
};

/** Reads an item of a body's `transactions`. */
export const readTransactionEvent = (raw: RawObject, { chainId }: Frame): TransactionEvent => ({
  kind: 'transaction',
  raw,
  chainId: smallIntegerOf(raw.chain_id) ?? chainId,
});

/** Reads an item of a body's `activities`. */
export const readActivity = (raw: RawObject, frame: Frame): ActivityEvent => ({
  kind: 'activity',
  ...activityFields(raw, frame),
});

/** Reads an item of a body's `balance_changes`. */
export const readBalanceChange = (raw: RawObject): BalanceChangeEvent => ({
  kind: 'balanceChange',
  ...balanceChangeFields(raw),
});
