import { LogUnavailableError } from '../log/errors.ts';
import { fingerprintOf } from '../log/identity.ts';
import type { NewDelivery } from '../log/log.ts';
import { termsOf } from '../log/terms.ts';
import { type Entry, entryOf, fingerprintIn } from './entry.ts';
import { CHANNEL, tenantKeys } from './keys.ts';
import { packTerms } from './postings.ts';
import { APPEND } from './scripts.ts';
import { bytesIn, type ScriptReply, type Store } from './store.ts';
import type { Tenants } from './tenants.ts';

/** A durable delivery's place. A duplicate has the place of the original. */
export type Stored = {
  readonly epoch: Buffer;
  readonly sequence: number;
  readonly fingerprint: number | null;
  readonly duplicate: boolean;
};

type Pending = {
  readonly delivery: NewDelivery;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (error: unknown) => void;
};

type Options = {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly maxWaitingBytes: number;
  /** Is called when a tenant's log has grown to so many deliveries. */
  readonly onCount: (tenant: string, count: number) => void;
};

/** Redis serves nothing else while a script runs: so many deliveries, or bytes, take it a few milliseconds. */
const MAX_DELIVERIES = 64;
const MAX_BYTES = 1024 * 1024;

/**
 * Sends deliveries to Redis: those of one tenant and one turn of the event loop as one script. Redis executes all scripts
 * that have arrived by then, syncs them to its disk at once, and then answers them: that is the group commit.
 */
export class AppendQueue {
  readonly #options: Options;
  readonly #running = new Set<Promise<void>>();
  #pending = new Map<string, Pending[]>();
  #waitingBytes = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Rejects with LogUnavailableError at once when more than `maxWaitingBytes` wait (load shedding), unless nothing waits. */
  async append(batch: readonly NewDelivery[]): Promise<readonly Stored[]> {
    let bytes = 0;
    for (const { body } of batch) bytes += body.byteLength;
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#options.maxWaitingBytes)
      throw new LogUnavailableError('too much waits to be stored');
    this.#waitingBytes += bytes;
    try {
      return await Promise.all(batch.map((delivery) => this.#add(delivery)));
    } finally {
      this.#waitingBytes -= bytes;
    }
  }

  /** Sends what waits, and resolves when all of it is stored or was refused. */
  async drain(): Promise<void> {
    this.#flush();
    await Promise.all(this.#running);
  }

  #add(delivery: NewDelivery): Promise<Stored> {
    const { promise, resolve, reject } = Promise.withResolvers<Stored>();
    if (this.#pending.size === 0) setImmediate(() => this.#flush());
    const pending = this.#pending.get(delivery.tenant) ?? [];
    this.#pending.set(delivery.tenant, pending);
    pending.push({ delivery, resolve, reject });
    return promise;
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [tenant, all] of pending)
      for (const some of portionsOf(all)) {
        const running = this.#store(tenant, some).catch((error: unknown) => {
          for (const { reject } of some) reject(error);
        });
        this.#running.add(running);
        void running.then(() => this.#running.delete(running));
      }
  }

  async #store(tenant: string, pending: readonly Pending[]): Promise<void> {
    const entries = await Promise.all(pending.map(({ delivery }) => entryOf(delivery)));
    const args = entries.flatMap(({ identity, header, body }, index) => {
      const delivery = pending[index]?.delivery;
      return [identity, header, body, packTerms(delivery ? termsOf(delivery) : [])];
    });
    const { tenants, onCount } = this.#options;
    let reply = await this.#run(tenant, '', args);
    if (reply.length === 0) reply = await this.#run(tenant, await tenants.newEpoch(tenant), args);
    const [head, floor] = reply.map(Number);
    for (const [index, stored] of placesIn(reply, entries, pending).entries())
      pending[index]?.resolve(stored);
    onCount(tenant, (head ?? 0) - (floor ?? 0));
    void tenants.add(tenant);
  }

  #run(tenant: string, epoch: Buffer | '', entries: readonly Buffer[]): Promise<ScriptReply> {
    const { prefix, entries: keys } = tenantKeys(tenant);
    return this.#options.store.write(APPEND, keys, [prefix, CHANNEL, tenant, epoch, ...entries]);
  }
}

const portionsOf = (all: readonly Pending[]): Pending[][] => {
  const portions: Pending[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const pending of all) {
    const size = pending.delivery.body.byteLength;
    if (bytes + size > MAX_BYTES || (portions.at(-1)?.length ?? 0) >= MAX_DELIVERIES) {
      portions.push([]);
      bytes = 0;
    }
    portions.at(-1)?.push(pending);
    bytes += size;
  }
  return portions;
};

/** Head, floor and epoch come before the places, of two items each. */
const PLACES_AT = 3;

const placesIn = (reply: ScriptReply, entries: readonly Entry[], pending: readonly Pending[]): Stored[] =>
  entries.map(({ identity }, index): Stored => {
    const [sequence, original] = reply.slice(PLACES_AT + 2 * index, PLACES_AT + 2 * index + 2);
    const mark = bytesIn(original);
    const duplicate = mark.length > 0;
    const receivedAt = pending[index]?.delivery.receivedAt ?? 0;
    return {
      epoch: bytesIn(reply[2]),
      sequence: Number(sequence),
      fingerprint: duplicate ? fingerprintIn(mark) : fingerprintOf(identity, receivedAt),
      duplicate,
    };
  });
