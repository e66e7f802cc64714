import type { Log } from './log.ts';

/** The pauses between two probes, in milliseconds: the first one, and the longest. Each is twice as long as the one before. */
export type ProbePauses = { readonly firstMs: number; readonly maxMs: number };

/** A url, or an origin, that takes no deliveries now. */
type Closed = {
  readonly since: number;
  failedAt: number;
  pauseMs: number;
  /** When the next probe is due. */
  probeAt: number;
  isProbing: boolean;
  isTold: boolean;
};

/**
 * Knows which urls take deliveries (a circuit breaker). A url that fails is closed, and so is the whole origin where no connection
 * is made: what is pending for it waits, except for one delivery at a time, the probe. It is sent after pauses of a few seconds, so
 * that everything follows within seconds of the url's return. An answer opens url and origin, and other closed urls of the origin
 * are probed after the shortest pause. Times are those of `performance.now()`: the clock may jump.
 */
export class Destinations {
  readonly #pauses: ProbePauses;
  readonly #log: Log;
  /** By url or origin. */
  readonly #closed = new Map<string, Closed>();

  constructor(pauses: ProbePauses, log: Log) {
    this.#pauses = pauses;
    this.#log = log;
  }

  /** When a delivery may be sent to a url: 0 for at any time; infinity while a probe is under way. */
  opensAt(url: string): number {
    const times = this.#of(url).map(({ isProbing, probeAt }) =>
      isProbing ? Number.POSITIVE_INFINITY : probeAt,
    );
    return Math.max(0, ...times);
  }

  /** Since when a url is closed; null where it is not. */
  closedSince(url: string): number | null {
    const times = this.#of(url).map(({ since }) => since);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** A delivery is being sent to a url. If that is closed, this is the probe. */
  began(url: string): void {
    for (const closed of this.#of(url)) closed.isProbing = true;
  }

  /** The delivery that was being sent to a url was aborted. */
  aborted(url: string): void {
    for (const closed of this.#of(url)) closed.isProbing = false;
  }

  /** A url has answered. Returns whether it, or its origin, was closed. */
  answered(url: string): boolean {
    const origin = originOf(url);
    const wasClosed = [origin, url].map((key) => this.#open(key)).includes(true);
    for (const [key, other] of this.#closed)
      if (originOf(key) === origin)
        other.probeAt = Math.min(other.probeAt, other.failedAt + this.#pauses.firstMs);
    return wasClosed;
  }

  /** A url has not answered, or answered that it takes nothing now. Its origin can be reached. */
  unavailable(url: string, now: number, problem: string): void {
    this.#open(originOf(url));
    this.#close(url, now, problem);
  }

  /** No connection to a url's origin was made. Returns whether it is closed only now. */
  unreachable(url: string, now: number, problem: string): boolean {
    this.aborted(url);
    return this.#close(originOf(url), now, problem);
  }

  #of(url: string): readonly Closed[] {
    return [originOf(url), url].flatMap((key) => this.#closed.get(key) ?? []);
  }

  /** Returns whether it was open. */
  #close(key: string, now: number, problem: string): boolean {
    const known = this.#closed.get(key);
    const { firstMs, maxMs } = this.#pauses;
    if (known === undefined) {
      const probe = { pauseMs: firstMs, probeAt: now + firstMs, isProbing: false };
      this.#closed.set(key, { since: now, failedAt: now, ...probe, isTold: false });
      return true;
    }
    known.isProbing = false;
    // Of several that were sent before it closed, the first has closed it.
    if (known.probeAt > now) return false;
    known.failedAt = now;
    known.pauseMs = Math.min(2 * known.pauseMs, maxMs);
    known.probeAt = now + known.pauseMs;
    if (!known.isTold) this.#log('deliveries wait', { to: new URL(key).origin, problem });
    known.isTold = true;
    return false;
  }

  #open(key: string): boolean {
    const known = this.#closed.get(key);
    if (known?.isTold) this.#log('deliveries go on', { to: new URL(key).origin });
    return this.#closed.delete(key);
  }
}

/** Everything before the path. */
export const originOf = (url: string): string => /^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? url;
