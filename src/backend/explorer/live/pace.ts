import { OPERATIONS } from '../client/operations.ts';
import type { LiveConfig } from '../config.ts';
import type { Progress } from './progress.ts';

/** How often watched addresses are asked for, within the credits of a day. */

/** A poll that finds nothing new: the newest transactions and the newest token transfers. */
const POLL_CREDITS = OPERATIONS.addressTransactions.credits + OPERATIONS.addressTokenTransfers.credits;

const DAY_MS = 86_400_000;
/** The shortest interval, however many credits there are: blocks don't come much faster. */
const LEAST_MS = 2_000;
/** Instances count no credits but block clients that ask too often. A poll is two requests, and we send at most one a second. */
const INSTANCE_MS = 15_000;
const INSTANCE_POLL_MS = 2_000;

/** The credits of a day of UTC. */
export class Budget {
  readonly #perDay: number;
  readonly #progress: Progress;
  readonly #now: () => number;

  constructor({ creditsPerDay }: LiveConfig, progress: Progress, now: () => number) {
    this.#perDay = creditsPerDay;
    this.#progress = progress;
    this.#now = now;
  }

  get left(): number {
    return this.#perDay - this.#progress.spentOn(this.#day);
  }

  /** Whether a poll may begin. What it finds may take more than is left. */
  get isEnough(): boolean {
    return this.left >= POLL_CREDITS;
  }

  /** When the next day begins, in milliseconds since 1970. */
  get resetAt(): number {
    return (this.#day + 1) * DAY_MS;
  }

  spend(credits: number): void {
    this.#progress.spend(this.#day, credits);
  }

  /** Milliseconds between two polls of the same address when this many are watched. */
  intervalMs(addresses: number): number {
    const restMs = this.resetAt - this.#now();
    // What is found takes further credits, which are saved in the rest of the day.
    const leftMs = this.isEnough ? Math.min(restMs, (addresses * POLL_CREDITS * restMs) / this.left) : 0;
    return Math.max(leftMs, this.evenIntervalMs(addresses));
  }

  /** As `intervalMs`, on a day without events. */
  evenIntervalMs(addresses: number): number {
    return Math.max(LEAST_MS, (addresses * POLL_CREDITS * DAY_MS) / this.#perDay);
  }

  get #day(): number {
    return Math.floor(this.#now() / DAY_MS);
  }
}

export const instanceIntervalMs = (addresses: number): number =>
  Math.max(INSTANCE_MS, addresses * INSTANCE_POLL_MS);

/** The credits that polls of one address cost on a day without events. */
export const creditsPerDay = (intervalMs: number): number => Math.round((POLL_CREDITS * DAY_MS) / intervalMs);
