import { movesOf } from '../activity/activity-model.ts';
import type { Delivery, FeedItem } from '../api/live-feed.ts';

export type DeliveredEvent = Delivery['events'][number];

/** What happened in one transaction, from all deliveries that tell of it. */
export type Card = {
  readonly kind: 'card';
  readonly key: string;
  /** Null if the service names no transaction. */
  readonly hash: string | null;
  readonly chainId: number | null;
  /** The deliveries, the oldest first. */
  readonly deliveries: readonly Delivery[];
  /** Each event once, also if several webhooks have delivered it. */
  readonly events: readonly DeliveredEvent[];
  /** Events beyond the first hundred of a delivery, which are not shown. */
  readonly omitted: number;
  readonly isNew: boolean;
};

/** A place where the log could not be continued. */
type Gap = Extract<FeedItem, { kind: 'gap' }> & { readonly key: string };
export type Row = Card | Gap;

/** A delivery may have ten thousand events, each of another transaction. */
const MAX_EVENTS = 100;

const hashOf = (event: DeliveredEvent): string | null =>
  event.__typename === 'TransactionEvent' ? event.transaction.hash : event.transactionHash;

const chainOf = (event: DeliveredEvent, delivery: Delivery): number | null => {
  if (event.__typename === 'TransactionEvent') return event.transaction.chainId;
  return (event.__typename === 'Activity' ? event.chainId : null) ?? delivery.chainId;
};

/** The events of each transaction of a delivery, by the key of their card. They are found once for each delivery. */
const groups = new WeakMap<Delivery, ReadonlyMap<string, readonly DeliveredEvent[]>>();

const groupsOf = (delivery: Delivery): ReadonlyMap<string, readonly DeliveredEvent[]> => {
  const known = groups.get(delivery);
  if (known) return known;
  const found = Map.groupBy(delivery.events.slice(0, MAX_EVENTS), (event) => {
    const hash = hashOf(event);
    return hash === null ? delivery.id : `${chainOf(event, delivery)} ${hash}`;
  });
  if (found.size === 0) found.set(delivery.id, []);
  groups.set(delivery, found);
  return found;
};

/** How many events of a delivery are left out of its cards: its first one says it. */
const omittedIn = (delivery: Delivery, key: string): number =>
  groupsOf(delivery).keys().next().value === key ? Math.max(0, delivery.events.length - MAX_EVENTS) : 0;

const subjectOf = (event: DeliveredEvent): string | null =>
  event.__typename === 'TransactionEvent' ? null : event.subscribedAddress;

/** An event without its subject, which one webhook may tell and another not, and which its id depends on. */
const contentOf = (event: DeliveredEvent): string =>
  JSON.stringify({ ...event, subscribedAddress: null, id: null });

/**
 * The events of several deliveries, each once. Two equal ones in one delivery are two events; equal ones in two deliveries
 * are the same, told by two webhooks.
 */
const merged = (deliveries: readonly (readonly DeliveredEvent[])[]): readonly DeliveredEvent[] => {
  const all: { event: DeliveredEvent; content: string; seen: number }[] = [];
  deliveries.forEach((events, delivery) => {
    for (const event of events) {
      const [content, subject] = [contentOf(event), subjectOf(event)];
      const same = all.find((other) => {
        const known = subjectOf(other.event);
        return (
          other.content === content &&
          other.seen !== delivery &&
          (known === subject || known === null || subject === null)
        );
      });
      if (!same) all.push({ event, content, seen: delivery });
      else {
        same.seen = delivery;
        if (subjectOf(same.event) === null) same.event = event;
      }
    }
  });
  return all.map(({ event }) => event);
};

type Activity = Extract<DeliveredEvent, { __typename: 'Activity' }>;

/** Whether a change of a balance is what the activity says that the wallet sent or received. */
const isTold = (activity: Activity, event: DeliveredEvent): boolean =>
  event.__typename === 'BalanceChange' &&
  movesOf(activity).some(
    ({ direction, value, party }) =>
      event.direction === direction.toUpperCase() &&
      event.amountDelta?.replace('-', '') === value &&
      // In a swap it may be the pool, or what leads to it.
      (activity.type === 'SWAP' || party === null || event.counterparty === party),
  );

/** The service omits whose an activity is; a change of a balance in the same transaction may tell it. */
const withSubject = (event: DeliveredEvent, events: readonly DeliveredEvent[]): DeliveredEvent => {
  if (event.__typename !== 'Activity' || event.subscribedAddress !== null) return event;
  const subjects = new Set(events.filter((other) => isTold(event, other)).map(subjectOf));
  const [subject = null] = subjects;
  return subjects.size === 1 ? { ...event, subscribedAddress: subject } : event;
};

const ORDER: readonly DeliveredEvent['__typename'][] = ['Activity', 'TransactionEvent', 'BalanceChange'];

/** Whether both lists have the same objects in the same order. */
const isSame = (some: readonly object[], others: readonly object[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index]);

/**
 * The items of a feed, newest first, as one card for each transaction. A card keeps the place of its first delivery, so that
 * nothing jumps when a second one tells of it. `before` is the previous result: a card that did not change is the same object.
 */
export const rowsOf = (items: readonly FeedItem[], before: readonly Row[] = []): readonly Row[] => {
  const known = new Map(before.map((row) => [row.key, row]));
  const parts = new Map<string, { deliveries: [Delivery, ...Delivery[]]; isNew: boolean } | Gap>();
  for (const item of items.toReversed()) {
    if (item.kind === 'gap') {
      parts.set(`gap ${item.cursor}`, { ...item, key: `gap ${item.cursor}` });
      continue;
    }
    for (const key of groupsOf(item.delivery).keys()) {
      const part = parts.get(key);
      if (part && 'deliveries' in part) part.deliveries.push(item.delivery);
      else parts.set(key, { deliveries: [item.delivery], isNew: item.isNew });
    }
  }
  const rows = [...parts].map(([key, part]): Row => {
    if (!('deliveries' in part)) return part;
    const { deliveries, isNew } = part;
    const last = known.get(key);
    if (last?.kind === 'card' && isSame(last.deliveries, deliveries)) return last;
    const events = merged(deliveries.map((delivery) => groupsOf(delivery).get(key) ?? []));
    const [first] = events;
    return {
      kind: 'card',
      key,
      hash: first ? hashOf(first) : null,
      chainId: first ? chainOf(first, deliveries[0]) : deliveries[0].chainId,
      deliveries,
      events: events
        .map((event) => withSubject(event, events))
        .toSorted((a, b) => ORDER.indexOf(a.__typename) - ORDER.indexOf(b.__typename)),
      omitted: omittedIn(deliveries[0], key),
      isNew,
    };
  });
  return rows.reverse();
};
