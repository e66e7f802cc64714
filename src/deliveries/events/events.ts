import { isObject, type RawObject } from '../../lib/json/exact-json.ts';
import { ACTIVITY_CONTENT, type Activity } from '../../lookups/activity-rest.ts';
import { contentDigest } from '../../upstream/parse/derived.ts';
import type { DeliveryType, StoredDelivery } from '../log/log.ts';
import {
  addressOf,
  booleanOf,
  decimalOf,
  hexOf,
  integerOf,
  isoTimeOf,
  oneOf,
  readAsset,
  readBought,
  readSold,
  readToken,
  smallIntegerOf,
  textOf,
  timeOf,
} from './fields.ts';

const DIRECTIONS = ['IN', 'OUT'] as const;

/** A transaction as upstream sent it; `src/lookups/transactions-rest.ts` reads it. */
type TransactionEvent = {
  readonly kind: 'transaction';
  readonly raw: RawObject;
  /** The item's chain; the delivery's if the item names none. */
  readonly chainId: number | null;
};

/** Integers are decimal strings, times are ISO 8601 in UTC, hex is in lower case. A field that the item lacks is null. */
export type ActivityEvent = { readonly kind: 'activity' } & Activity;

/** Formatted like ActivityEvent. The body has no chain, block or time. */
export type BalanceChangeEvent = { readonly kind: 'balanceChange' } & ReturnType<typeof balanceChangeFields>;

type DeliveryEvent = TransactionEvent | ActivityEvent | BalanceChangeEvent;

/** The delivery's fields that apply to all its events. */
type Frame = EventFrame & {
  /** How many activities of the delivery before this item are equal to it. */
  readonly ordinalOf: (raw: RawObject) => number;
};

const activityFields = (
  raw: RawObject,
  { chainId, subscribedAddress }: Pick<EventFrame, 'chainId' | 'subscribedAddress'>,
) => {
  const [token, sold, bought] = [readToken(raw), readSold(raw), readBought(raw)];
  const contract = isObject(raw.contract_metadata) ? raw.contract_metadata : {};
  return {
    typeName: textOf(raw.type),
    chainId: smallIntegerOf(raw.chain_id) ?? chainId,
    blockNumber: integerOf(raw.block_number),
    blockTime: isoTimeOf(raw.block_time),
    transactionHash: hexOf(raw.tx_hash),
    transactionFrom: addressOf(raw.tx_from),
    transactionTo: addressOf(raw.tx_to),
    /** In wei. */
    transactionValue: integerOf(raw.tx_value),
    assetTypeName: textOf(raw.asset_type)?.toLowerCase() ?? null,
    tokenAddress: token.address,
    tokenId: integerOf(raw.id),
    from: addressOf(raw.from),
    to: addressOf(raw.to),
    value: integerOf(raw.value),
    valueUsd: decimalOf(raw.value_usd),
    /** The delivery's, where the item has no such field: those of hosted services have none. */
    subscribedAddress: addressOf(raw.subscribed_address) ?? subscribedAddress,
    /** The address that an approval lets spend. */
    spender: addressOf(raw.spender),
    /** The decoded call, as upstream wrote it. */
    function: raw.function ?? null,
    contractName: textOf(contract.name),
    tokenSymbol: token.symbol,
    tokenName: token.name,
    tokenDecimals: token.decimals,
    tokenLogo: token.logo,
    tokenPoolSizeUsd: token.poolSizeUsd,
    soldAddress: sold.address,
    soldSymbol: sold.symbol,
    soldName: sold.name,
    soldDecimals: sold.decimals,
    soldLogo: sold.logo,
    soldValue: sold.value,
    boughtAddress: bought.address,
    boughtSymbol: bought.symbol,
    boughtName: bought.name,
    boughtDecimals: bought.decimals,
    boughtLogo: bought.logo,
    boughtValue: bought.value,
  };
};

const balanceChangeFields = (raw: RawObject, { chainId }: Frame) => {
  const asset = isObject(raw.asset) ? raw.asset : {};
  const token = readAsset(asset);
  return {
    /** The delivery's: the item has no such field. */
    chainId,
    subscribedAddress: addressOf(raw.subscribed_address),
    counterparty: addressOf(raw.counterparty_address),
    transactionHash: hexOf(raw.transaction_hash),
    direction: oneOf(DIRECTIONS, raw.direction),
    amountBefore: integerOf(raw.amount_before),
    amountAfter: integerOf(raw.amount_after),
    amountDelta: integerOf(raw.amount_delta),
    valueUsdBefore: decimalOf(raw.value_before_usd),
    valueUsdAfter: decimalOf(raw.value_after_usd),
    valueUsdDelta: decimalOf(raw.value_delta_usd),
    priceUsd: decimalOf(raw.price_usd),
    /** Of an event that says neither, only the address tells what it is. */
    assetTypeName:
      textOf(asset.asset_type)?.toLowerCase() ?? (asset.token_address === 'native' ? 'native' : null),
    tokenAddress: token.address,
    tokenId: integerOf(asset.id),
    tokenSymbol: token.symbol,
    tokenName: token.name,
    tokenDecimals: token.decimals,
    tokenLogo: token.logo,
    lowLiquidity: booleanOf(asset.low_liquidity),
    poolSizeUsd: token.poolSizeUsd,
    /** Whether no newer block was told of before. */
    isCurrent: booleanOf(raw.is_current) ?? true,
  };
};

/** Reads an item of a body's `transactions`. */
const readTransactionEvent = (raw: RawObject, { chainId }: Frame): TransactionEvent => ({
  kind: 'transaction',
  raw,
  chainId: smallIntegerOf(raw.chain_id) ?? chainId,
});

/** Reads an item of a body's `activities`. */
const readActivity = (raw: RawObject, frame: Frame, at: number): ActivityEvent => {
  const activity = { kind: 'activity', ...activityFields(raw, frame) } as const;
  if (activity.subscribedAddress === null) return { ...activity, deliveredAs: `${frame.cursor}:${at}` };
  return {
    ...activity,
    get ordinal() {
      return frame.ordinalOf(raw);
    },
  };
};

/**
 * Returns the function that says how many activities of a body before an item are equal to it. It reads them all when it is
 * first called.
 */
const countEqual = (items: readonly Item[], frame: EventFrame): ((raw: RawObject) => number) => {
  let ordinals: Map<RawObject, number> | null = null;
  const count = (): Map<RawObject, number> => {
    const counts = new Map<string, number>();
    const all = new Map<RawObject, number>();
    for (const { kind, raw } of items) {
      if (kind.type !== 'activities') continue;
      const activity = activityFields(raw, frame);
      const identity = contentDigest(IDENTIFYING.map((property) => activity[property]));
      const ordinal = counts.get(identity) ?? 0;
      counts.set(identity, ordinal + 1);
      all.set(raw, ordinal);
    }
    return all;
  };
  return (raw) => {
    ordinals ??= count();
    return ordinals.get(raw) ?? 0;
  };
};

const IDENTIFYING = ['subscribedAddress', 'chainId', 'transactionHash', ...ACTIVITY_CONTENT] as const;

/** Reads an item of a body's `balance_changes`. */
const readBalanceChange = (raw: RawObject, frame: Frame): BalanceChangeEvent => ({
  kind: 'balanceChange',
  ...balanceChangeFields(raw, frame),
});

/** The fields of a stored delivery that apply to all events of its body. */
export type EventFrame = Pick<StoredDelivery, 'cursor' | 'chainId' | 'subscribedAddress'>;

type Kind = {
  readonly type: DeliveryType;
  readonly key: string;
  /** `at` is the place of the item in the body. */
  readonly read: (raw: RawObject, frame: Frame, at: number) => DeliveryEvent;
  /** The fields with an address by which a client may look the event up. */
  readonly addressFields: readonly string[];
};

/** The field of an item with its subscribed address. Activities of hosted services lack it. */
const SUBSCRIBER = 'subscribed_address';

const KINDS: readonly Kind[] = [
  {
    type: 'transactions',
    key: 'transactions',
    read: readTransactionEvent,
    addressFields: ['address', 'from', 'to'],
  },
  {
    type: 'activities',
    key: 'activities',
    read: readActivity,
    addressFields: [
      SUBSCRIBER,
      'tx_from',
      'tx_to',
      'from',
      'to',
      'spender',
      'token_address',
      'from_token_address',
      'to_token_address',
    ],
  },
  {
    type: 'balances',
    key: 'balance_changes',
    read: readBalanceChange,
    addressFields: [SUBSCRIBER, 'counterparty_address', 'token_address'],
  },
];

type Item = { readonly kind: Kind; readonly raw: RawObject };

/** The facts about a delivery that its body contains. */
export type BodySummary = {
  readonly type: DeliveryType | null;
  /** The chain of its items; null when they name none or several. */
  readonly chainId: number | null;
  /** The distinct addresses that its events concern. */
  readonly addresses: readonly string[];
  /** Whether it has events without the subscribed address. */
  readonly lacksSubscriber: boolean;
};

/** Summarises a body that `BodyParser` has parsed. No field of the body is required. */
export const summarize = (body: unknown): BodySummary => {
  const items = itemsOf(body);
  const chainIds = new Set<number | null>();
  const addresses = new Set<string>();
  let lacksSubscriber = false;
  for (const item of items) {
    chainIds.add(smallIntegerOf(item.raw.chain_id));
    for (const address of concernedBy(item, null)) addresses.add(address);
    lacksSubscriber ||= !namesSubscriber(item);
  }
  const [chainId = null] = chainIds;
  return {
    type: KINDS.find(({ key }) => isObject(body) && Array.isArray(body[key]))?.type ?? null,
    chainId: chainIds.size === 1 ? chainId : null,
    addresses: [...addresses],
    lacksSubscriber,
  };
};

/** The time of the earliest event, in milliseconds since 1970; null when an event has none. */
export const earliestTime = (body: unknown): number | null => {
  const times = itemsOf(body).map(({ raw }) => timeOf(raw.block_time));
  return times.reduce(
    (earliest, time) => (earliest === null || time === null ? null : Math.min(earliest, time)),
    Number.POSITIVE_INFINITY,
  );
};

/** The names that a body says were left out of its event, as it would have been too large; none in most bodies. */
export const omittedIn = (body: unknown): readonly string[] => {
  const omitted = isObject(body) && Array.isArray(body.omitted) ? body.omitted.slice(0, MAX_OMITTED) : [];
  return omitted.filter((name) => typeof name === 'string');
};

const MAX_OMITTED = 20;

/** Reads one event of a body. */
export type ReadEvent = () => DeliveryEvent;

/** The number of events that `eventsIn` returns for all addresses. */
export const eventCountIn = (body: unknown): number => itemsOf(body).length;

/**
 * The first 10,000 events of a stored body, in its order; with `address`, those of them that concern it. Items that are not
 * objects are left out. A body of an unknown shape has no events. Integers beyond 2^53 are decimal strings. Each event is
 * read by its own call, so that the caller can yield between them.
 */
export const eventsIn = (
  body: unknown,
  frame: EventFrame,
  address: string | null = null,
): readonly ReadEvent[] => {
  const items = itemsOf(body);
  const whole: Frame = { ...frame, ordinalOf: countEqual(items, frame) };
  return items
    .map((item, at) => ({ item, at }))
    .filter(({ item }) => address === null || concernedBy(item, frame.subscribedAddress).includes(address))
    .map(
      ({ item: { kind, raw }, at }) =>
        () =>
          kind.read(raw, whole, at),
    );
};

/**
 * The addresses that an item concerns, in lower case: the subscribed address, senders and receivers, counterparties, spenders,
 * and the contracts of the tokens moved. Addresses in logs or call data don't count. `filter.address` finds a delivery by
 * exactly these addresses. So a delivery that it finds has an event for the address, unless the body exceeds the limits of
 * `parseStored`.
 */
const concernedBy = ({ kind, raw }: Item, subscribedAddress: string | null): string[] => {
  const concerned: string[] = [];
  const asset = isObject(raw.asset) ? raw.asset : null;
  for (const field of kind.addressFields) {
    const address = addressOf(raw[field]);
    if (address !== null) concerned.push(address);
    if (asset === null) continue;
    const assetAddress = addressOf(asset[field]);
    if (assetAddress !== null) concerned.push(assetAddress);
  }
  if (subscribedAddress !== null && !namesSubscriber({ kind, raw })) concerned.push(subscribedAddress);
  return concerned;
};

const namesSubscriber = ({ kind, raw }: Item): boolean =>
  kind.type !== 'activities' || addressOf(raw[SUBSCRIBER]) !== null;

/** More than any block has; a body of 5 MB could have a million. */
export const MAX_EVENTS = 10_000;

/** The first 10,000 items. Only the body's keys decide its shape: the type in a header may be wrong. */
const itemsOf = (body: unknown): Item[] => {
  const items: Item[] = [];
  if (!isObject(body)) return items;
  for (const kind of KINDS) {
    const list = body[kind.key];
    if (!Array.isArray(list)) continue;
    for (const raw of list) {
      if (items.length === MAX_EVENTS) return items;
      if (isObject(raw)) items.push({ kind, raw });
    }
  }
  return items;
};
