import type { RedisConnection } from '../../redis/connection.ts';
import type { Store } from './store.ts';
import { APPENDING_CHANNEL, CHANNEL, growthIn, REACH, tenantKeys } from './store.ts';

const LATE_MS = 1000;

type Expected = {
  readonly sequence: number;
  /** The last look at it has failed, such as where replicas of its shard are missing. */
  readonly hasFailed: boolean;
};

/**
 * Records up to which delivery replicas have each tenant's log, so that no subscriber sees what the loss of the primary would
 * take back. The mark is in the tenant's state. The gateway that stores a delivery raises it once replicas have answered (WAIT).
 *
 * That gateway may end in between, a replica may be missing, or may be promoted without the newest mark. So a gateway that
 * hears of a delivery beyond the mark, or reads of one, looks again after a second unless it has heard meanwhile that replicas
 * have it, and then waits for the replicas itself.
 */
export class Replication {
  readonly #store: Store;
  /** The newest delivery of each tenant whose replication was not seen yet. */
  readonly #expected = new Map<string, Expected>();
  #replicate: ((tenant: string) => Promise<void>) | null = null;
  #timer: NodeJS.Timeout | undefined;

  private constructor(store: Store) {
    this.#store = store;
  }

  static async listen(redis: RedisConnection, store: Store): Promise<Replication> {
    const replication = new Replication(store);
    await redis.subscribe(APPENDING_CHANNEL, (message) => {
      const { head, tenant } = growthIn(message);
      replication.expect(tenant, head);
    });
    await redis.subscribe(CHANNEL, (message) => {
      const { head, tenant } = growthIn(message);
      if (replication.#sequenceOf(tenant) <= head) replication.#expected.delete(tenant);
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
  }

  /** The tenant has a delivery that is not shown yet. */
  expect(tenant: string, sequence: number): void {
    this.#expected.set(tenant, {
      sequence: Math.max(sequence, this.#sequenceOf(tenant)),
      hasFailed: this.#expected.get(tenant)?.hasFailed ?? false,
    });
    this.#schedule();
  }

  #sequenceOf(tenant: string): number {
    return this.#expected.get(tenant)?.sequence ?? 0;
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
    const all = [...this.#expected].toSorted(([, a], [, b]) => Number(a.hasFailed) - Number(b.hasFailed));
    for (const [tenant, { hasFailed }] of all) {
      // By now another gateway may have said that replicas have it.
      if (!this.#expected.has(tenant)) continue;
      const sequence = this.#sequenceOf(tenant);
      try {
        if (!(await this.#isReached(tenant, sequence))) await this.#replicate?.(tenant);
        if (this.#sequenceOf(tenant) === sequence) this.#expected.delete(tenant);
      } catch {
        const expected = this.#sequenceOf(tenant);
        // Its next turn comes after those of all others.
        if (this.#expected.delete(tenant))
          this.#expected.set(tenant, { sequence: expected, hasFailed: true });
        // While replicas are missing, each try holds up appends for as long as WAIT takes, so one is repeated a second.
        if (hasFailed) return;
      }
    }
  }

  async #isReached(tenant: string, sequence: number): Promise<boolean> {
    const [, key] = tenantKeys(tenant).entries;
    const reply = await this.#store.send(key, 'HGET', key, 'replicated');
    return Number(reply ?? 0) >= sequence;
  }
}
