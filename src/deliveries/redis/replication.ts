import type { RedisConnection } from '../../redis/connection.ts';
import { APPENDING_CHANNEL, CHANNEL, tenantKeys } from './keys.ts';
import { REACH } from './lua/scripts.ts';
import type { Store } from './store.ts';

const LATE_MS = 1000;

/**
 * Records up to which delivery replicas have each tenant's log, so that no subscriber sees what the loss of the primary would
 * take back. The mark is in the tenant's state. The gateway that stores a delivery raises it once replicas have answered (WAIT).
 *
 * That gateway may end in between, a replica may be missing, or may be promoted without the newest mark. So a gateway that
 * hears of a delivery beyond the mark, or reads of one, looks again after a second, and then waits for the replicas itself.
 */
export class Replication {
  readonly #store: Store;
  /** The newest delivery of each tenant whose replication was not seen yet. */
  readonly #expected = new Map<string, number>();
  #replicate: ((tenant: string) => Promise<void>) | null = null;
  #timer: NodeJS.Timeout | undefined;

  private constructor(store: Store) {
    this.#store = store;
  }

  static async listen(redis: RedisConnection, store: Store): Promise<Replication> {
    const replication = new Replication(store);
    await redis.subscribe(APPENDING_CHANNEL, (message) => {
      const space = message.indexOf(' ');
      replication.expect(message.slice(space + 1), Number(message.slice(0, space)));
    });
    return replication;
  }

  /** `replicate` waits until replicas have all of a tenant, and then calls `reached`. */
  start(replicate: (tenant: string) => Promise<void>): void {
    this.#replicate = replicate;
  }

  stop(): void {
    this.#replicate = null;
    this.#expected.clear();
    clearTimeout(this.#timer);
  }

  /** Replicas have the tenant's deliveries up to this one. */
  async reached(tenant: string, sequence: number): Promise<void> {
    await this.#store.run(REACH, tenantKeys(tenant).entries, [String(sequence), CHANNEL, tenant]);
    if ((this.#expected.get(tenant) ?? 0) <= sequence) this.#expected.delete(tenant);
  }

  /** The tenant has a delivery that is not shown yet. */
  expect(tenant: string, sequence: number): void {
    this.#expected.set(tenant, Math.max(sequence, this.#expected.get(tenant) ?? 0));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#replicate === null) return;
    this.#timer = setTimeout(async () => {
      await this.#lookAgain();
      this.#timer = undefined;
      if (this.#expected.size > 0) this.#schedule();
    }, LATE_MS).unref();
  }

  async #lookAgain(): Promise<void> {
    for (const [tenant, sequence] of [...this.#expected]) {
      try {
        if (!(await this.#isReached(tenant, sequence))) await this.#replicate?.(tenant);
        if (this.#expected.get(tenant) === sequence) this.#expected.delete(tenant);
      } catch {
        // Its turn comes after all others.
        if (this.#expected.delete(tenant)) this.#expected.set(tenant, sequence);
        // While replicas are missing, each try holds up appends for as long as WAIT takes, so there is one a second.
        return;
      }
    }
  }

  async #isReached(tenant: string, sequence: number): Promise<boolean> {
    const [, key] = tenantKeys(tenant).entries;
    const reply = await this.#store.send(key, 'HGET', key, 'replicated');
    return Number(reply ?? 0) >= sequence;
  }
}
