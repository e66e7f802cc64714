import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sequenceIn } from '../deliveries/log/cursor.ts';
import type { DeliveryLog, NewDelivery, StoredDelivery } from '../deliveries/log/log.ts';
import type { Invalidations } from '../shared/pages/invalidations.ts';
import type { InvalidationBus } from '../upstream/cache/invalidation.ts';

type Options = {
  /** Of this gateway's own memory. */
  readonly memory: InvalidationBus;
  /** Null where this gateway is alone. */
  readonly shared: Invalidations | null;
  /** The partition of a tenant's cached pages. */
  readonly cachePartitionOf: (tenant: string) => string;
  /** The addresses that a delivery of this webhook may concern beside those that it names. */
  readonly unnamedBy: (webhookId: string | null, named: readonly string[]) => readonly string[];
};

/** What a delivery invalidates: where it arrives, and on each gateway that hands it on. */
export type InvalidatingDeliveries = {
  /** A delivery has arrived here, and is not stored yet: begins to invalidate its pages on other gateways. */
  received(delivery: NewDelivery): void;
  /** It is stored: invalidates its pages in memory. */
  stored(tenant: string, addresses: readonly string[], webhookId: string | null): void;
  /**
   * Wraps the log: a delivery that was read has invalidated its pages here, and this gateway gets none of them from others.
   * Its invalidation comes over another connection, and may come later than the event.
   */
  invalidateBeforeReading(log: DeliveryLog): DeliveryLog;
};

/** The deliveries that this gateway has handed on. Each subscriber, query and filter reads them anew. */
const MAX_HANDED_ON = 20_000;
const MAX_TENANTS = 10_000;

/**
 * A delivery that was stored before this gateway first read its tenant's log is replayed. Its invalidation may be on its way
 * still, but not for longer than this: by then it has arrived, or the connection counts as lost, which invalidates all.
 */
const REPLAY_MS = 30_000;

export const createInvalidatingDeliveries = ({
  memory,
  shared,
  cachePartitionOf,
  unnamedBy,
}: Options): InvalidatingDeliveries => {
  const handedOn = new LRUCache<string, true>({ max: MAX_HANDED_ON });
  /** The last sequence number of each tenant's log when this gateway first read it. */
  const firstHeads = new LRUCache<string, number>({ max: MAX_TENANTS });
  const noteHead = (tenant: string, head: string): void => {
    if (!firstHeads.has(tenant)) firstHeads.set(tenant, sequenceIn(head) ?? 0);
  };
  const concernedBy = (webhookId: string | null, named: readonly string[]): readonly string[] => {
    const others = unnamedBy(webhookId, named);
    return others.length === 0 ? named : [...named, ...others];
  };

  const handOn = (delivery: StoredDelivery): void => {
    if (handedOn.has(delivery.cursor)) return;
    handedOn.set(delivery.cursor, true);
    const isReplayed = delivery.sequence <= (firstHeads.get(delivery.tenant) ?? Number.POSITIVE_INFINITY);
    if (isReplayed && Date.now() - delivery.receivedAt > REPLAY_MS) return;
    const cachePartition = cachePartitionOf(delivery.tenant);
    const addresses = concernedBy(delivery.webhookId, delivery.addresses);
    const mark = markOf(delivery);
    const state = shared?.stateOf(cachePartition, addresses, mark);
    if (state === 'done') return;
    memory.invalidate(cachePartition, addresses);
    if (state === 'unknown') shared?.send(cachePartition, addresses, mark);
  };

  return {
    received(delivery) {
      const { tenant, webhookId } = delivery;
      shared?.send(cachePartitionOf(tenant), concernedBy(webhookId, delivery.addresses), markOf(delivery));
    },
    stored: (tenant, addresses, webhookId) =>
      memory.invalidate(cachePartitionOf(tenant), concernedBy(webhookId, addresses)),
    invalidateBeforeReading(log) {
      // Without other gateways each delivery is invalidated when it is stored.
      if (shared === null) return log;
      return {
        ...log,
        async head(tenant) {
          const head = await log.head(tenant);
          noteHead(tenant, head);
          return head;
        },
        async read(tenant, range, options) {
          const page = await log.read(tenant, range, options);
          noteHead(tenant, page.head);
          for (const delivery of page.deliveries) handOn(delivery);
          return page;
        },
        async get(tenant, cursor, options) {
          const delivery = await log.get(tenant, cursor, options);
          if (delivery) handOn(delivery);
          return delivery;
        },
      };
    },
  };
};

const MARK_CHARACTERS = 16;

/**
 * Names a delivery for all gateways: also before it is stored, when it has no place in the log. Deliveries with one name
 * have the same addresses and came within one millisecond, so the invalidation of one serves the other.
 */
const markOf = ({ tenant, webhookId, receivedAt, addresses }: NewDelivery): string =>
  hash('sha256', [tenant, webhookId, receivedAt, ...addresses.toSorted()].join('\n'), 'base64url').slice(
    0,
    MARK_CHARACTERS,
  );
