import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';

/** How long a wallet counts as silent, unless a delivery names it. */
const SILENT_MS = 10 * 60_000;
const MAX_LISTS = 10_000;

/** Finds wallets whose deliveries don't arrive though they should: a newer page shows an item that none has named. */
export class SilentWallets {
  readonly #now: Clock;
  /** When a delivery last named the address. */
  readonly #namedAt = new LRUCache<string, number>({ max: MAX_LISTS });
  readonly #silentUntil = new LRUCache<string, number>({ max: MAX_LISTS });
  /** The newest item of a list, and when its page was requested. */
  readonly #newest = new LRUCache<string, { readonly identity: string | null; readonly startedAt: number }>({
    max: MAX_LISTS,
  });

  constructor(now: Clock) {
    this.#now = now;
  }

  has(address: string): boolean {
    return this.#now() < (this.#silentUntil.get(address) ?? 0);
  }

  /** A delivery names the address. */
  named(address: string): void {
    this.#namedAt.set(address, this.#now());
    this.#silentUntil.delete(address);
  }

  /** The newest page of a list of this address was requested `ageMs` ago: see `DeliveredAddresses.fetched`. */
  fetched(list: string, address: string, identity: string | null, ageMs: number): void {
    const before = this.#newest.get(list);
    this.#newest.set(list, { identity, startedAt: this.#now() - ageMs });
    if (!before || before.identity === identity) return;
    if ((this.#namedAt.get(address) ?? Number.NEGATIVE_INFINITY) < before.startedAt)
      this.#silentUntil.set(address, this.#now() + SILENT_MS);
  }
}
