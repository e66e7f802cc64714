import type { RedisConnection } from '../../redis/connection.ts';
import type { AppendListener, Changes } from '../log/log.ts';
import { CHANNEL, growthIn } from './store.ts';

/** Tenants whose heads are remembered for `changed`. Of others it says that it can't compare. */
const MAX_HEADS = 10_000;

/** A node of a Cluster may lose a message on its way to another one, without any sign of it. */
const CLUSTER_RECHECK_MS = 30_000;

type Growth = { readonly head: number; readonly version: number };

/**
 * Hears of every append of every gateway over one connection, however many tenants and readers there are. While that
 * connection is lost, messages are; so whenever it is open again, all readers look.
 */
export class WakeUp {
  readonly #listeners = new Set<{ readonly notify: AppendListener }>();
  readonly #isCluster: boolean;
  /** In the order of their last growth. */
  readonly #heads = new Map<string, Growth>();
  #version = 0;
  /** Older marks can't be compared with: messages may have been lost since. */
  #comparableFrom = 0;
  #recheckedAt = performance.now();

  private constructor(isCluster: boolean) {
    this.#isCluster = isCluster;
  }

  static async listen(redis: RedisConnection): Promise<WakeUp> {
    const wakeUp = new WakeUp(redis.isCluster);
    redis.onReopened(() => wakeUp.#lost());
    await redis.subscribe(CHANNEL, (message) => wakeUp.#grown(message));
    return wakeUp;
  }

  onAppend(notify: AppendListener): () => void {
    // The same function may be registered twice, each time until its own removal.
    const listener = { notify };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** See `changed` of the log. The marks of one process mean nothing to another. */
  changed(mark: string | null): Changes {
    if (this.#isCluster && performance.now() - this.#recheckedAt > CLUSTER_RECHECK_MS) {
      this.#recheckedAt = performance.now();
      this.#lost();
    }
    const since = mark === null ? -1 : Number(mark);
    const current = String(this.#version);
    if (since < this.#comparableFrom) return { mark: current, heads: null };
    const heads = new Map<string, number>();
    for (const [tenant, { head, version }] of this.#heads) if (version > since) heads.set(tenant, head);
    return { mark: current, heads };
  }

  notify(tenants: Iterable<string> | null): void {
    for (const { notify } of this.#listeners) notify(tenants);
  }

  #grown(message: string): void {
    const { head, tenant } = growthIn(message);
    this.#version += 1;
    this.#heads.delete(tenant);
    this.#heads.set(tenant, { head, version: this.#version });
    if (this.#heads.size > MAX_HEADS) {
      const [oldest] = this.#heads;
      if (oldest) {
        this.#heads.delete(oldest[0]);
        this.#comparableFrom = oldest[1].version;
      }
    }
    this.notify([tenant]);
  }

  #lost(): void {
    this.#version += 1;
    this.#comparableFrom = this.#version;
    this.notify(null);
  }
}
