import type { Clock } from '../../lib/clock.ts';
import {
  isNear,
  isTimeDue,
  type Jump,
  type KeptTime,
  RetentionClock,
  type RetentionObserver,
} from '../log/retention-clock.ts';
import { TIME, TIME_JUMP } from './keys.ts';
import type { Store } from './store.ts';

type Options = {
  readonly store: Store;
  /** Takes the place of the clock of Redis. */
  readonly now: (() => number) | undefined;
  readonly monotonic: Clock;
  readonly observer: Partial<RetentionObserver>;
};

/**
 * The time by which all gateways drop deliveries: that of Redis, so that no gateway's own clock can drop anything. The last
 * one that was believed is kept in Redis, so a gateway that starts can tell whether the clock of Redis has jumped. A
 * jump that is not confirmed is kept beside it.
 */
export class RedisTime {
  readonly #options: Options;
  readonly #clock: RetentionClock;
  #kept: KeptTime | null;
  #differs = false;

  private constructor(options: Options, clock: RetentionClock, kept: KeptTime | null) {
    this.#options = options;
    this.#clock = clock;
    this.#kept = kept;
  }

  static async open(options: Options): Promise<RedisTime> {
    const { store, now: given, monotonic, observer } = options;
    const time = Number((await store.get(TIME)) ?? Number.NaN);
    const jump = jumpIn(await store.get(TIME_JUMP));
    const now = Number.isFinite(time) ? time : jump?.expected;
    const kept = now === undefined ? null : { now, jump };
    // Without a time that is kept, as in a log of an earlier release, the two clocks at hand have to agree.
    const wall = given?.() ?? Math.min(await readTime(store), Date.now());
    const clock = new RetentionClock(kept ?? { now: wall, jump: null }, monotonic, observer);
    return new RedisTime(options, clock, kept);
  }

  /** Returns the time that has come for certain. */
  async read(): Promise<number> {
    const { store, now: given } = this.#options;
    const wall = given?.() ?? (await readTime(store));
    if (given === undefined) this.#compare(Date.now() - wall);
    const time = this.#clock.read(wall);
    if (isTimeDue(this.#kept, time)) await this.#keep(time);
    return time.now;
  }

  async #keep(time: KeptTime): Promise<void> {
    const { store } = this.#options;
    const { now, jump } = time;
    if (jump !== null) {
      const text = `${jump.expected} ${jump.wall} ${jump.evenMs}`;
      await store.send(TIME_JUMP, 'SET', TIME_JUMP, text);
    } else {
      await store.send(TIME, 'SET', TIME, String(now));
      await store.send(TIME_JUMP, 'UNLINK', TIME_JUMP);
    }
    this.#kept = time;
  }

  #compare(aheadMs: number): void {
    const differs = !isNear(aheadMs, 0);
    if (differs !== this.#differs) this.#options.observer.differs?.(differs ? aheadMs : null);
    this.#differs = differs;
  }
}

/** Null where there is none, or it is malformed. */
const jumpIn = (kept: Buffer | null): Jump | null => {
  const [expected, wall, evenMs] = String(kept ?? '')
    .split(' ')
    .map(Number);
  if (expected === undefined || wall === undefined || evenMs === undefined) return null;
  return Number.isFinite(expected + wall + evenMs) ? { expected, wall, evenMs } : null;
};

const readTime = async (store: Store): Promise<number> => {
  const reply = await store.send(TIME, 'TIME');
  const [seconds, microseconds] = Array.isArray(reply) ? reply : [];
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
};
