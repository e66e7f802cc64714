import { messageOf } from '../../lib/error-text.ts';
import { tenantKeys } from './keys.ts';
import { TRIM } from './lua/scripts.ts';
import { isRefusal, type Store } from './store.ts';
import type { Tenants } from './tenants.ts';

/** How much of each tenant's log is kept. */
type Retention = { readonly maxAgeMs: number; readonly maxCount: number };

type Options = {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly retention: Retention;
};

/** Deliveries that one call drops at most: Redis serves nothing else meanwhile. */
const DROPPED_AT_ONCE = 256;
const TENANTS_AT_ONCE = 100;

/** The logs of some tenants could not be trimmed; all others were. The message names some of them. */
class TenantsNotTrimmedError extends Error {
  constructor(failures: ReadonlyMap<string, unknown>) {
    const named = [...failures].slice(0, 3).map(([tenant, error]) => `${tenant} (${messageOf(error)})`);
    const others = failures.size - named.length;
    super(`of tenant ${named.join(', ')}${others === 0 ? '' : `, and of ${others} others`}`);
    this.name = 'TenantsNotTrimmedError';
  }
}

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

  /**
   * `now` is the time that ages are measured to. Rejects with TenantsNotTrimmedError when Redis has refused to trim some
   * tenants; the next call tries them again.
   */
  async trim(now: number): Promise<void> {
    const { tenants, retention } = this.#options;
    const tooOld = now - retention.maxAgeMs;
    await this.#seeAll();
    const failures = new Map<string, unknown>();
    for (const tenant of this.#overfull)
      if (await this.#hasTrimmed(tenant, now, failures)) this.#overfull.delete(tenant);
    // Each of them leaves the front of the set, unless it fails.
    for (let failed = 0; ; ) {
      const due = await tenants.due(tooOld, failed, TENANTS_AT_ONCE);
      for (const tenant of due) if (!(await this.#hasTrimmed(tenant, now, failures))) failed += 1;
      if (due.length < TENANTS_AT_ONCE) break;
    }
    if (failures.size > 0) throw new TenantsNotTrimmedError(failures);
  }

  async #seeAll(): Promise<void> {
    for (let offset = 0; !this.#hasSeenAll; offset += TENANTS_AT_ONCE) {
      const some = await this.#options.tenants.due(null, offset, TENANTS_AT_ONCE);
      for (const tenant of some) this.#overfull.add(tenant);
      this.#hasSeenAll = some.length < TENANTS_AT_ONCE;
    }
  }

  /** Adds the tenant to `failures` when Redis refuses to trim its log. Rejects when Redis can't be reached. */
  async #hasTrimmed(tenant: string, now: number, failures: Map<string, unknown>): Promise<boolean> {
    try {
      await this.#trimTenant(tenant, now);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      failures.set(tenant, error);
      return false;
    }
  }

  async #trimTenant(tenant: string, now: number): Promise<void> {
    const { store, tenants, retention } = this.#options;
    const { prefix, entries } = tenantKeys(tenant);
    const tooOld = now - retention.maxAgeMs;
    const limits = [retention.maxCount, now, retention.maxAgeMs, DROPPED_AT_ONCE];
    const args = [prefix, ...limits.map(String)];
    for (;;) {
      const [hasMore, storedAt, mended] = await store.run(TRIM, entries, args);
      store.reportMended(tenant, mended);
      if (hasMore === 1) continue;
      const left = String(storedAt ?? '');
      // Without a delivery, the next one can't be older than now.
      await tenants.setOldest(tenant, left === '' ? now : Math.max(Number(left), tooOld));
      return;
    }
  }
}
