import type { Stored } from '../log/appends.ts';
import type { Place, Position } from '../log/cursor.ts';
import type { NewDelivery } from '../log/log.ts';
import { type Entry, entryOf, fingerprintIn } from './entry.ts';
import type { Replication } from './replication.ts';
import {
  APPEND,
  APPENDING_CHANNEL,
  bytesIn,
  CHANNEL,
  type ScriptReply,
  type Store,
  tenantKeys,
} from './store.ts';
import type { Tenants } from './tenants.ts';

/** Where a durable delivery is. */
type StoredPosition = Position & Stored;

type Pending = {
  readonly bytes: number;
  /** Is made while deliveries before it are stored. */
  readonly entry: Promise<Entry>;
  readonly resolve: (stored: StoredPosition) => void;
  readonly reject: (error: unknown) => void;
};

type Options = {
  readonly store: Store;
  readonly tenants: Tenants;
  /** Takes the place of the clock of Redis. */
  readonly now: (() => number) | undefined;
  /** Null where deliveries are shown once they are stored. */
  readonly replication: Replication | null;
  /** Called when a tenant's log has grown to this many deliveries. */
  readonly onCount: (tenant: string, count: number) => void;
};

/**
 * Limits of one script, because Redis serves nothing else while it runs. This many deliveries or bytes take a few
 * milliseconds.
 */
const MAX_DELIVERIES = 64;
const MAX_BYTES = 1024 * 1024;

/** When this many wait, they are sent while others are being stored: it takes long where Redis is far away, or syncs slowly. */
const ENOUGH = 16;

/** The deliveries of one tenant. */
type Queue = {
  waiting: Pending[];
  /** Resolves once all that was taken from `waiting` is sent. */
  sent: Promise<unknown>;
  readonly storing: Set<Promise<unknown>>;
};

/**
 * Sends deliveries to Redis, those of one tenant as one script. What arrives while Redis stores and syncs them is the next
 * script, which is sent once they are stored, or once ENOUGH have arrived: that is the group commit.
 */
export class RedisAppendQueue {
  readonly #options: Options;
  /** By tenant: those that store something. */
  readonly #queues = new Map<string, Queue>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves once the batch is durable. */
  append(batch: readonly NewDelivery[]): Promise<readonly StoredPosition[]> {
    return Promise.all(batch.map((delivery) => this.#add(delivery)));
  }

  /** Sends what waits, and resolves when all of it is stored or was refused. */
  async drain(): Promise<void> {
    for (const [tenant, queue] of this.#queues) this.#take(tenant, queue);
    await Promise.all([...this.#queues.values()].flatMap(({ storing }) => [...storing]));
  }

  #add(delivery: NewDelivery): Promise<StoredPosition> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredPosition>();
    const { tenant, body } = delivery;
    const entry = entryOf(delivery);
    // It rejects when the group is stored.
    entry.catch(() => {});
    const queue = this.#queues.get(tenant) ?? { waiting: [], sent: Promise.resolve(), storing: new Set() };
    this.#queues.set(tenant, queue);
    const count = queue.waiting.push({ bytes: body.byteLength, entry, resolve, reject });
    if (queue.storing.size > 0 && count === ENOUGH) this.#take(tenant, queue);
    // What else arrives in this turn of the event loop goes with it.
    else if (queue.storing.size === 0 && count === 1) setImmediate(() => this.#take(tenant, queue));
    return promise;
  }

  /** Stores what waits, and what has arrived by the time when nothing is being stored any longer. */
  #take(tenant: string, queue: Queue): void {
    const { waiting } = queue;
    if (waiting.length === 0) return;
    queue.waiting = [];
    const sending = queue.sent.then(() => this.#send(tenant, waiting));
    queue.sent = sending;
    const stored = sending.then(async (storing) => {
      await Promise.all(storing);
      queue.storing.delete(stored);
      if (queue.storing.size > 0) return;
      if (queue.waiting.length === 0) this.#queues.delete(tenant);
      else this.#take(tenant, queue);
    });
    queue.storing.add(stored);
  }

  /** Resolves once all are sent, with promises that resolve once they are stored or refused. */
  async #send(tenant: string, waiting: readonly Pending[]): Promise<readonly Promise<void>[]> {
    const storing: Promise<void>[] = [];
    for (const some of portionsOf(waiting)) {
      // A portion is not sent before the one in front of it, though its bodies may be compressed earlier.
      await Promise.allSettled(some.map(({ entry }) => entry));
      storing.push(this.#storeOrReject(tenant, some));
      // The first one may have to begin the log.
      if (!this.#options.tenants.has(tenant)) await storing[0];
    }
    return storing;
  }

  /** Waits until replicas have all that is stored for the tenant. Rejects with LogUnavailableError when they have not in time. */
  async replicate(tenant: string): Promise<void> {
    const [head] = await this.#run(tenant, '', Buffer.alloc(0));
    if (head !== undefined) await this.#options.replication?.reached(tenant, Number(head));
  }

  async #storeOrReject(tenant: string, pending: readonly Pending[]): Promise<void> {
    try {
      await this.#store(tenant, pending);
    } catch (error) {
      for (const { reject } of pending) reject(error);
    }
  }

  async #store(tenant: string, pending: readonly Pending[]): Promise<void> {
    const entries = await Promise.all(pending.map(({ entry }) => entry));
    const batch = packBatch(entries);
    const { tenants, onCount } = this.#options;
    let reply = await this.#run(tenant, '', batch);
    if (reply.length === 0) {
      reply = await this.#run(tenant, await tenants.newEpoch(tenant), batch);
      // A copy that began meanwhile may have missed this tenant: the log is fenced then, and this rejects.
      await tenants.refresh();
    }
    const [head, floor] = reply.map(Number);
    await this.#options.replication?.reached(tenant, head ?? 0);
    for (const [index, stored] of placesIn(reply, entries).entries()) pending[index]?.resolve(stored);
    onCount(tenant, (head ?? 0) - (floor ?? 0));
    void tenants.add(tenant);
  }

  async #run(tenant: string, epoch: Buffer | '', batch: Buffer): Promise<ScriptReply> {
    const { store, now, replication } = this.#options;
    const { prefix, entries: keys } = tenantKeys(tenant);
    const time = now === undefined ? '' : String(now());
    const [channel, until] = replication === null ? [CHANNEL, ''] : [APPENDING_CHANNEL, 'replicated'];
    const args = [prefix, channel, tenant, epoch, batch, time, until];
    const reply = await store.write(APPEND, keys, args);
    store.reportMended(tenant, reply[4]);
    return reply;
  }
}

/** What one script each appends. */
export const portionsOf = <Sized extends { readonly bytes: number }>(all: readonly Sized[]): Sized[][] => {
  const portions: Sized[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const pending of all) {
    const size = pending.bytes;
    if (bytes + size > MAX_BYTES || (portions.at(-1)?.length ?? 0) >= MAX_DELIVERIES) {
      portions.push([]);
      bytes = 0;
    }
    portions.at(-1)?.push(pending);
    bytes += size;
  }
  return portions;
};

/** Head, floor, epoch, the head before and what was mended come first, then the duplicates: three items each. */
const DUPLICATES_AT = 5;
const DUPLICATE_ITEMS = 3;

const placesIn = (reply: ScriptReply, entries: readonly Entry[]): StoredPosition[] => {
  const epoch = bytesIn(reply[2]);
  const originals = new Map<number, Place>();
  for (let at = DUPLICATES_AT; at < reply.length; at += DUPLICATE_ITEMS) {
    const [index, sequence, mark] = reply.slice(at, at + DUPLICATE_ITEMS);
    originals.set(Number(index), { sequence: Number(sequence), fingerprint: fingerprintIn(bytesIn(mark)) });
  }
  let sequence = Number(reply[3]);
  return entries.map(({ header }, index) => {
    const original = originals.get(index);
    if (original) return { epoch, ...original, duplicate: true };
    sequence += 1;
    return { epoch, sequence, fingerprint: fingerprintIn(header), duplicate: false };
  });
};

const SIZE_BYTES = 4;

/**
 * What the append script gets of some deliveries, as one argument: client and Redis take microseconds for each. Of each
 * delivery it has the sizes of its header, its body and its terms (4 bytes each, big-endian), and then these.
 */
export const packBatch = (entries: readonly Entry[]): Buffer => {
  const parts = entries.map(({ header, body, terms }) => [header, body, terms]);
  const size = parts.flat().reduce((sum, { length }) => sum + SIZE_BYTES + length, 0);
  const batch = Buffer.allocUnsafe(size);
  let at = 0;
  for (const some of parts) {
    for (const { length } of some) at = batch.writeUInt32BE(length, at);
    for (const part of some) at += part.copy(batch, at);
  }
  return batch;
};
