import type { RedisConnection } from '../../redis/connection.ts';
import { AppendListeners, RecentGrowth } from '../log/appends.ts';
import type { Changes } from '../log/log.ts';
import { CHANNEL, growthIn } from './store.ts';

/** A node of a Cluster may lose a message on its way to another one, without any sign of it. */
const CLUSTER_RECHECK_MS = 30_000;

/**
 * Hears of every append of every gateway over one connection, however many tenants and readers there are. While that
 * connection is lost, messages are; so whenever it is open again, all readers look.
 */
export class WakeUp {
  readonly listeners = new AppendListeners();
  readonly #growth = new RecentGrowth();
  readonly #isCluster: boolean;
  #recheckedAt = performance.now();

  private constructor(isCluster: boolean) {
    this.#isCluster = isCluster;
  }

  static async listen(redis: RedisConnection): Promise<WakeUp> {
    const wakeUp = new WakeUp(redis.isCluster);
    redis.onReopened(() => wakeUp.#lost());
    await redis.subscribe(CHANNEL, (message) => {
      const { head, tenant } = growthIn(message);
      wakeUp.#growth.add(tenant, head);
      wakeUp.listeners.notify([tenant]);
    });
    return wakeUp;
  }

  /** See `changed` of the log. */
  changed(mark: string | null): Changes {
    if (this.#isCluster && performance.now() - this.#recheckedAt > CLUSTER_RECHECK_MS) {
      this.#recheckedAt = performance.now();
      this.#lost();
    }
    return this.#growth.since(mark);
  }

  #lost(): void {
    this.#growth.missed();
    this.listeners.notify(null);
  }
}
