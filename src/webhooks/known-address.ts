import { UpstreamError } from '../upstream/client/errors.ts';
import { MalformedFieldError } from '../upstream/parse/fields.ts';
import type { Subscribed } from './rest.ts';

const MINUTE_MS = 60_000;

/** Upstream retries a delivery for a day, so an event may be a day older than its arrival. */
const DAY_MS = 24 * 60 * MINUTE_MS;

/** An address that was not confirmed for longer than this does not count. */
const TRUSTED_MS = DAY_MS;

/** Clocks differ, and upstream may match an event with the list some time after the event happened. */
const MARGIN_MS = MINUTE_MS;

/** The only address of a list, however often the list repeats it; null for none or several. */
export const soleAddress = (addresses: readonly string[]): string | null => {
  const [address = null, ...others] = new Set(addresses);
  return others.length === 0 ? address : null;
};

/** The only address of a whole list; null for none or several, or if an item is malformed. */
export const soleAddressIn = (items: readonly (Subscribed | MalformedFieldError)[]): string | null => {
  const addresses = items.map((item) => (item instanceof MalformedFieldError ? null : item.address));
  return soleAddress(addresses.every((address) => address !== null) ? addresses : []);
};

/**
 * The only address of one webhook's list, as far as the gateway knows it. It counts only for events that happened after the
 * list's last known change. Known changes are kept only in memory: after a restart, a retried delivery of an event from
 * before a change gets the address from after it. Times are milliseconds since 1970.
 */
export class KnownAddress {
  readonly #now: () => number;
  /** Null if the list holds none or several; undefined if the list is not known. */
  #address: string | null | undefined;
  /** When `#address` was last read or set. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** Counts changes, so that a read which began before a change does not overwrite the list after it. */
  #version = 0;
  /** The number of changes under way. */
  #changing = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** When the list was last read or set; minus infinity when it is not known. */
  get knownAt(): number {
    return this.#address === undefined ? Number.NEGATIVE_INFINITY : this.#knownAt;
  }

  /** The list's only address when it was last read or set; null for none or several, and when it is not known. */
  get address(): string | null {
    return this.#address ?? null;
  }

  /** The subscribed address of an event that happened at `happenedAt()`; null when it is not known. */
  at(happenedAt: () => number | null): string | null {
    const now = this.#now();
    if (this.#address == null || this.#changing > 0 || now - this.#knownAt > TRUSTED_MS) return null;
    if (now - this.#changedAt > DAY_MS) return this.#address;
    const time = happenedAt();
    return time !== null && time >= this.#changedAt + MARGIN_MS ? this.#address : null;
  }

  /**
   * Begins a read of the list. The caller passes the list's only address, or null for none or several, to the returned
   * function. A read that overlaps a change is ignored.
   */
  beginRead(): (address: string | null) => void {
    const version = this.#version;
    return (address) => {
      if (this.#version !== version || this.#changing > 0) return;
      const isTrusted = this.#now() - this.knownAt <= TRUSTED_MS;
      if (isTrusted && this.#address !== address) this.#changedAt = this.#now();
      this.prime(address);
    };
  }

  /** Records that the list has held this address since an unknown time. */
  prime(address: string | null): void {
    this.#address = address;
    this.#knownAt = this.#now();
  }

  /**
   * Runs a change of the list. `replacement` is its only address afterwards, null for none or several, or undefined when
   * only upstream knows. Rejects as `change` does.
   */
  async change<Answer>(
    replacement: string | null | undefined,
    change: () => Promise<Answer>,
  ): Promise<Answer> {
    this.#version += 1;
    this.#changing += 1;
    try {
      const answer = await change();
      this.#changed(replacement);
      return answer;
    } catch (error) {
      // A rejected change was not applied. After any other failure upstream may or may not have changed the list.
      const isRejected = error instanceof UpstreamError && error.failure === 'rejected';
      if (!isRejected) this.#changed(undefined);
      throw error;
    } finally {
      this.#changing -= 1;
    }
  }

  #changed(address: string | null | undefined): void {
    this.#version += 1;
    if (address === undefined || address !== this.#address) this.#changedAt = this.#now();
    if (address === undefined) this.#address = undefined;
    else this.prime(address);
  }
}
