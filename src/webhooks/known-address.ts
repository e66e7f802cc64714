import { UpstreamError } from '../upstream/client/errors.ts';

const MINUTE_MS = 60_000;

/** The service retries a delivery for a day, so an event may be a day older than its arrival. */
const DAY_MS = 24 * 60 * MINUTE_MS;
/** An address that was not confirmed for so long is not trusted any more. */
const TRUSTED_MS = DAY_MS;
/** Clocks differ, and the service may match an event with the list some time after it happened. */
const MARGIN_MS = MINUTE_MS;

/**
 * The single address of one webhook's list, as far as is known. It counts only for events that happened after the list's
 * last known change. Times are milliseconds since 1970.
 */
export class KnownAddress {
  readonly #now: () => number;
  /** Null when the list holds none or several; undefined when the list is not known. */
  #address: string | null | undefined;
  /** When `#address` was last read or set. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** Counts changes, so that a read which began before a change is not taken for the list after it. */
  #version = 0;
  #changing = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** When the list was last read or set; minus infinity when it is not known. */
  get knownAt(): number {
    return this.#address === undefined ? Number.NEGATIVE_INFINITY : this.#knownAt;
  }

  /** The subscribed address of an event that happened at `happenedAt()`; null when it is not known. */
  at(happenedAt: () => number | null): string | null {
    const now = this.#now();
    if (this.#address == null || this.#changing > 0 || now - this.#knownAt > TRUSTED_MS) return null;
    if (now - this.#changedAt > DAY_MS) return this.#address;
    const time = happenedAt();
    return time !== null && time >= this.#changedAt + MARGIN_MS ? this.#address : null;
  }

  /** Call it before the list is read, and the returned function with the list's one address; null for none or several. */
  reading(): (address: string | null) => void {
    const version = this.#version;
    return (address) => {
      if (this.#version !== version || this.#changing > 0) return;
      const isTrusted = this.#now() - this.knownAt <= TRUSTED_MS;
      if (isTrusted && this.#address !== address) this.#changedAt = this.#now();
      this.prime(address);
    };
  }

  /** The list holds this address, since an unknown time. */
  prime(address: string | null): void {
    this.#address = address;
    this.#knownAt = this.#now();
  }

  /** Runs a change of the list; `replacement` is its one address after it, or undefined when only the service knows. */
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
      // After any other failure the service may or may not have changed the list.
      const isRefusal = error instanceof UpstreamError && error.failure === 'rejected';
      if (!isRefusal) this.#changed(undefined);
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
