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

/**
 * Sends deliveries to Redis, those of one tenant as one script. What arrives while Redis stores and syncs them is the next
 * script: that is the group commit.
 */
export class RedisAppendQueue {
  readonly #options: Options;
  readonly #waiting = new Map<string, Pending[]>();
  /** By tenant. */
  readonly #storing = new Map<string, Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves once the batch is durable. */
  append(batch: readonly NewDelivery[]): Promise<readonly StoredPosition[]> {
    return Promise.all(batch.map((delivery) => this.#add(delivery)));
  }

  /** Sends what waits, and resolves when all of it is stored or was refused. */
  async drain(): Promise<void> {
    for (const tenant of this.#waiting.keys()) this.#start(tenant);
    await Promise.all(this.#storing.values());
  }

  #add(delivery: NewDelivery): Promise<StoredPosition> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredPosition>();
    const { tenant, body } = delivery;
    const entry = entryOf(delivery);
    // It rejects when the group is stored.
    entry.catch(() => {});
    const pending = { bytes: body.byteLength, entry, resolve, reject };
    const waiting = this.#waiting.get(tenant);
    if (waiting) waiting.push(pending);
    else {
      this.#waiting.set(tenant, [pending]);
      // What else arrives in this turn of the event loop goes with it.
      if (!this.#storing.has(tenant)) setImmediate(() => this.#start(tenant));
    }
    return promise;
  }

  #start(tenant: string): void {
    if (this.#waiting.has(tenant) && !this.#storing.has(tenant))
      this.#storing.set(tenant, this.#storeWaiting(tenant));
  }

  /** Stores what waits, and then what has arrived meanwhile, until nothing waits. */
  async #storeWaiting(tenant: string): Promise<void> {
    for (let waiting = this.#take(tenant); waiting.length > 0; waiting = this.#take(tenant)) {
      const storing: Promise<void>[] = [];
      for (const some of portionsOf(waiting)) {
        // A portion is not sent before the one in front of it, though its bodies may be compressed earlier.
        await Promise.allSettled(some.map(({ entry }) => entry));
        storing.push(this.#storeOrReject(tenant, some));
        // The first one may have to begin the log.
        if (!this.#options.tenants.has(tenant)) await storing[0];
      }
      await Promise.all(storing);
    }
    this.#storing.delete(tenant);
  }

  #take(tenant: string): readonly Pending[] {
    const waiting = this.#waiting.get(tenant) ?? [];
    this.#waiting.delete(tenant);
    return waiting;
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
