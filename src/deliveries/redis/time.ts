import type { Clock } from '../../lib/clock.ts';
import { isNear, RetentionClock, type RetentionObserver } from '../log/retention-clock.ts';
import { TIME } from './keys.ts';
import type { Store } from './store.ts';

type Options = {
  readonly store: Store;
  /** Takes the place of the clock of Redis. */
  readonly now: (() => number) | undefined;
  readonly monotonic: Clock;
  readonly observer: Partial<RetentionObserver>;
};

/** The time that is kept in Redis may be older than the present one by so much. */
const KEPT_EVERY_MS = 600_000;

/**
 * The time by which all gateways drop deliveries: that of Redis, so that no gateway's own clock can drop anything. The last
 * one that was believed is kept in Redis, so a gateway that starts can tell whether the clock of Redis has jumped.
 */
export class RedisTime {
  readonly #options: Options;
  readonly #clock: RetentionClock;
  #kept: number;
  #differs = false;

  private constructor(options: Options, clock: RetentionClock, kept: number) {
    this.#options = options;
    this.#clock = clock;
    this.#kept = kept;
  }

  static async open(options: Options): Promise<RedisTime> {
    const { store, now, monotonic, observer } = options;
    const kept = Number((await store.get(TIME)) ?? Number.NaN);
    // Without a time that is kept, as in a log of an earlier release, the two clocks at hand have to agree.
    const wall = now?.() ?? Math.min(await readTime(store), Date.now());
    const clock = new RetentionClock(Number.isFinite(kept) ? kept : wall, monotonic, observer);
    return new RedisTime(options, clock, kept);
  }

  /** Returns the time that has come for certain. */
  async read(): Promise<number> {
    const { store, now: given } = this.#options;
    const wall = given?.() ?? (await readTime(store));
    if (given === undefined) this.#compare(Date.now() - wall);
    const { now, isSure } = this.#clock.read(wall);
    if (isSure && !(Math.abs(now - this.#kept) < KEPT_EVERY_MS)) {
      await store.send(TIME, 'SET', TIME, String(now));
      this.#kept = now;
    }
    return now;
  }

  #compare(aheadMs: number): void {
    const differs = !isNear(aheadMs, 0);
    if (differs !== this.#differs) this.#options.observer.differs?.(differs ? aheadMs : null);
    this.#differs = differs;
  }
}

const readTime = async (store: Store): Promise<number> => {
  const reply = await store.send(TIME, 'TIME');
  const [seconds, microseconds] = Array.isArray(reply) ? reply : [];
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
};
