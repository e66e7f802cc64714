import { tenantKeys } from './keys.ts';
import { TRIM } from './lua/scripts.ts';
import type { Store } from './store.ts';
import type { Tenants } from './tenants.ts';

/** How much of each tenant's log is kept. */
type Retention = { readonly maxAgeMs: number; readonly maxCount: number };

type Options = {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly retention: Retention;
  readonly now: () => number;
};

/** Deliveries that one call drops at most: Redis serves nothing else meanwhile. */
const DROPPED_AT_ONCE = 256;
const TENANTS_AT_ONCE = 100;

/**
 * Drops the oldest deliveries that are beyond the retention. A set that is sorted by the age of each tenant's oldest
 * delivery names those with too old ones, `observeCount` those with too many. Gateways may trim at the same time.
 */
export class RetentionTrimmer {
  readonly #options: Options;
  readonly #overfull = new Set<string>();
  /** Tenants that had too many before this gateway started are found once. */
  #hasSeenAll = false;

  constructor(options: Options) {
    this.#options = options;
  }

  observeCount(tenant: string, count: number): void {
    if (count > this.#options.retention.maxCount) this.#overfull.add(tenant);
  }

  async trim(): Promise<void> {
    const { tenants, retention, now } = this.#options;
    const oldest = now() - retention.maxAgeMs;
    if (!this.#hasSeenAll) {
      for (let offset = 0; ; offset += TENANTS_AT_ONCE) {
        const some = await tenants.due(null, offset, TENANTS_AT_ONCE);
        for (const tenant of some) this.#overfull.add(tenant);
        if (some.length < TENANTS_AT_ONCE) break;
      }
      this.#hasSeenAll = true;
    }
    for (const tenant of this.#overfull) {
      await this.#trimTenant(tenant, oldest);
      this.#overfull.delete(tenant);
    }
    // Each of them leaves the front of the set.
    for (;;) {
      const due = await tenants.due(oldest, 0, TENANTS_AT_ONCE);
      for (const tenant of due) await this.#trimTenant(tenant, oldest);
      if (due.length < TENANTS_AT_ONCE) return;
    }
  }

  async #trimTenant(tenant: string, oldest: number): Promise<void> {
    const { store, tenants, retention, now } = this.#options;
    const { prefix, entries } = tenantKeys(tenant);
    const args = [prefix, String(retention.maxCount), String(oldest), String(DROPPED_AT_ONCE)];
    for (;;) {
      const [hasMore, receivedAt] = await store.run(TRIM, entries, args);
      if (hasMore === 1) continue;
      const left = String(receivedAt ?? '');
      // Without a delivery, the next one can't be older than now.
      await tenants.setOldest(tenant, left === '' ? now() : Math.max(Number(left), oldest));
      return;
    }
  }
}
