import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, monotonicClock } from '../lib/deadlines.ts';
import { atMostEntries } from '../lib/memo.ts';
import type { Invalidations } from '../redis/invalidations.ts';
import type { InvalidationBus } from '../upstream/cache/entries.ts';
import { sequenceIn } from './log/cursor.ts';
import type { LogGrowth, NewDelivery, StoredDelivery } from './log/log.ts';
import type { ReadListener } from './log/observer.ts';

type Options = {
  readonly log: LogGrowth;
  /** Of this gateway's own memory. */
  readonly memory: InvalidationBus;
  /** Null where this gateway is alone. */
  readonly shared: Invalidations | null;
  /** The partition of a tenant's cached pages. */
  readonly cachePartitionOf: (tenant: string) => string;
  /** The addresses that a delivery of this webhook may concern in addition to those that it names. */
  readonly unnamedBy: (webhookId: string | null, named: readonly string[]) => readonly string[];
  readonly now?: Clock | undefined;
};

/** What a delivery invalidates: where it arrives, and on each gateway that hands it on. */
export type Invalidation = {
  /** A delivery has arrived here, and is not stored yet: begins to invalidate its pages on other gateways. */
  received(delivery: NewDelivery): void;
  /** It is stored: invalidates its pages in memory. */
  stored(tenant: string, addresses: readonly string[], webhookId: string | null): void;
  /**
   * Once a delivery is read, its pages are invalidated here, and this gateway gets none of them from others: its invalidation
   * comes over another connection, and may come later than the event. Null where this gateway is alone: each delivery is
   * invalidated when it is stored.
   */
  readonly reads: ReadListener | null;
};

/** The deliveries that this gateway has handed on. Each subscriber, query and filter reads them anew. */
const MAX_HANDED_ON = 20_000;
const MAX_TENANTS = 10_000;

/**
 * A delivery that was stored earlier than this is replayed: its invalidation has arrived, or the connection counts as lost,
 * which invalidates all.
 */
const REPLAY_MS = 30_000;

/** A tenant's log at some moments: what is in it up to `settled` was stored at least REPLAY_MS ago. */
type Heads = { readonly settled: number; readonly recent: number; readonly recentAtMs: number };

export const createInvalidation = ({
  log,
  memory,
  shared,
  cachePartitionOf,
  unnamedBy,
  now = monotonicClock,
}: Options): Invalidation => {
  const handedOn = new LRUCache<string, true>(atMostEntries(MAX_HANDED_ON));
  /** The last sequence number of each tenant's log when this gateway first read it. */
  const firstHeads = new LRUCache<string, number>(atMostEntries(MAX_TENANTS));
  const heads = new LRUCache<string, Heads>(atMostEntries(MAX_TENANTS));
  const noteHead = (tenant: string, head: number): void => {
    const noted = heads.get(tenant);
    const isDue = noted !== undefined && now() - noted.recentAtMs >= REPLAY_MS;
    if (noted && !isDue && head >= noted.settled) return;
    // A head below an old one belongs to a restored log: its next deliveries are new.
    const settled = isDue && head >= noted.recent ? noted.recent : 0;
    heads.set(tenant, { settled, recent: head, recentAtMs: now() });
  };
  const noteRead = (tenant: string, cursor: string): void => {
    const head = sequenceIn(cursor) ?? 0;
    if (!firstHeads.has(tenant)) firstHeads.set(tenant, head);
    noteHead(tenant, head);
  };
  /** Notes the heads of tenants without readers here: a client that returns after an hour replays what it missed. */
  const noteAppends = (): void => {
    let mark: string | null = null;
    let notedAtMs = Number.NEGATIVE_INFINITY;
    const note = async (): Promise<void> => {
      if (now() - notedAtMs < REPLAY_MS) return;
      notedAtMs = now();
      const changes = await log.changed(mark);
      mark = changes.mark;
      for (const [tenant, head] of changes.heads ?? []) noteHead(tenant, head);
    };
    // While the log is unavailable nothing is noted, and more is invalidated than is needed.
    const tryToNote = (): void => void note().catch(() => {});
    tryToNote();
    log.onAppend(tryToNote);
  };
  /** By the clock of the gateway that has received it, only where this one has seen too little of the log. */
  const isReplayed = ({ tenant, sequence, receivedAt }: StoredDelivery): boolean =>
    sequence <= (heads.get(tenant)?.settled ?? 0) ||
    (sequence <= (firstHeads.get(tenant) ?? Number.POSITIVE_INFINITY) && Date.now() - receivedAt > REPLAY_MS);
  const concernedBy = (webhookId: string | null, named: readonly string[]): readonly string[] => {
    const others = unnamedBy(webhookId, named);
    return others.length === 0 ? named : [...named, ...others];
  };

  const handOn = (delivery: StoredDelivery): void => {
    if (handedOn.has(delivery.cursor)) return;
    handedOn.set(delivery.cursor, true);
    if (isReplayed(delivery)) return;
    const cachePartition = cachePartitionOf(delivery.tenant);
    const addresses = concernedBy(delivery.webhookId, delivery.addresses);
    const mark = markOf(delivery);
    const state = shared?.stateOf(cachePartition, addresses, mark);
    if (state === 'done') return;
    memory.invalidate(cachePartition, addresses);
    if (state === 'unknown') shared?.send(cachePartition, addresses, mark);
  };

  if (shared !== null) noteAppends();
  return {
    received(delivery) {
      const { tenant, webhookId } = delivery;
      shared?.send(cachePartitionOf(tenant), concernedBy(webhookId, delivery.addresses), markOf(delivery));
    },
    stored: (tenant, addresses, webhookId) =>
      memory.invalidate(cachePartitionOf(tenant), concernedBy(webhookId, addresses)),
    reads: shared && { onHead: noteRead, onDelivery: handOn },
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
