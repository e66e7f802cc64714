import type { DeliveryType, StoredDelivery } from '../log/log.ts';
import { type DeliveryEvent, readActivity, readBalanceChange, readTransactionEvent } from './events.ts';
import { addressOf, isObject, type RawObject, smallIntegerOf, timeOf } from './fields.ts';

/** Fields of a stored delivery that hold for all events of its body. */
export type EventFrame = Pick<StoredDelivery, 'chainId' | 'subscribedAddress'>;

type Kind = {
  readonly type: DeliveryType;
  readonly key: string;
  readonly read: (raw: RawObject, frame: EventFrame) => DeliveryEvent;
  /** The fields that hold an address by which somebody would look the event up. */
  readonly addressFields: readonly string[];
  /** Whether an item names the subscribed address. */
  readonly namesSubscriber: boolean;
};

const KINDS: readonly Kind[] = [
  {
    type: 'transactions',
    key: 'transactions',
    read: readTransactionEvent,
    addressFields: ['address', 'from', 'to'],
    namesSubscriber: true,
  },
  {
    type: 'activities',
    key: 'activities',
    read: readActivity,
    addressFields: [
      'tx_from',
      'tx_to',
      'from',
      'to',
      'spender',
      'token_address',
      'from_token_address',
      'to_token_address',
    ],
    namesSubscriber: false,
  },
  {
    type: 'balances',
    key: 'balance_changes',
    read: readBalanceChange,
    addressFields: ['subscribed_address', 'counterparty_address', 'token_address'],
    namesSubscriber: true,
  },
];

type Item = { readonly kind: Kind; readonly raw: RawObject };

/** What a body says of itself, as far as it is understood. */
export type BodySummary = {
  readonly type: DeliveryType | null;
  /** The chain of its items; null when they name none, or several. */
  readonly chainId: number | null;
  /** The addresses that its events name, each once. */
  readonly addresses: readonly string[];
  /** Whether it has events that don't name the subscribed address. */
  readonly lacksSubscriber: boolean;
};

/** `body` as `BodyReader` gives it. Nothing in it is required. */
export const summarize = (body: unknown): BodySummary => {
  const items = itemsOf(body);
  const chainIds = new Set(items.map(({ raw }) => smallIntegerOf(raw.chain_id)));
  const [chainId = null] = chainIds;
  return {
    type: KINDS.find(({ key }) => isObject(body) && Array.isArray(body[key]))?.type ?? null,
    chainId: chainIds.size === 1 ? chainId : null,
    addresses: [...new Set(items.flatMap((item) => concernedBy(item, null)))],
    lacksSubscriber: items.some(({ kind }) => !kind.namesSubscriber),
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

/** Reads an event of a body. */
export type ReadEvent = () => DeliveryEvent;

/** How many events a stored body has, as `eventsIn` gives them. */
export const eventCountIn = (body: unknown): number => itemsOf(body).length;

/**
 * The first 10,000 events of a stored body, in its order; with `address`, those of them that concern it. Items that are no
 * objects are left out. A body of an unknown shape has none. Integers beyond 2^53 are decimal strings. Each event is read
 * by its own call, so that the caller can pause between them.
 */
export const eventsIn = (
  body: unknown,
  frame: EventFrame,
  address: string | null = null,
): readonly ReadEvent[] =>
  itemsOf(body)
    .filter((item) => address === null || concernedBy(item, frame.subscribedAddress).includes(address))
    .map(
      ({ kind, raw }) =>
        () =>
          kind.read(raw, frame),
    );

/**
 * Lower case: the subscribed address, senders and receivers, counterparties, spenders, and the contracts of the tokens
 * moved. Addresses in logs or call data don't count. `filter.address` finds a delivery by just these, so it has an event
 * for each, unless its body is beyond the bounds of `parseStored`.
 */
const concernedBy = ({ kind, raw }: Item, subscribedAddress: string | null): string[] => {
  const concerned: string[] = [];
  const places = isObject(raw.asset) ? [raw, raw.asset] : [raw];
  for (const field of kind.addressFields) {
    for (const place of places) {
      const address = addressOf(place[field]);
      if (address !== null) concerned.push(address);
    }
  }
  if (subscribedAddress !== null && !kind.namesSubscriber) concerned.push(subscribedAddress);
  return concerned;
};

/** More than any block has; a body of five megabytes could hold a million. */
const MAX_EVENTS = 10_000;

/** The first 10,000, by the body's keys alone: a header may be wrong about the shape. */
const itemsOf = (body: unknown): Item[] => {
  const items: Item[] = [];
  if (!isObject(body)) return items;
  for (const kind of KINDS) {
    const list = body[kind.key];
    for (const raw of Array.isArray(list) ? list : []) {
      if (items.length === MAX_EVENTS) return items;
      if (isObject(raw)) items.push({ kind, raw });
    }
  }
  return items;
};
