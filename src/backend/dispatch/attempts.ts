import { createHash } from 'node:crypto';
import type { Delivery, PendingDelivery } from './store.ts';

/** What came of an attempt at a delivery. */
export type Attempt = {
  readonly delivery: Delivery;
  /** The pending delivery that was tried. */
  readonly pendingId: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly latencyMs: number;
  /** The number of attempts of the schedule before it. */
  readonly retry: number;
  /** The status that the url answered; null when it did not answer. */
  readonly status: number | null;
  /** What went wrong; null when the url accepted it. It names no url. */
  readonly problem: string | null;
  /** When the delivery is tried again, in milliseconds since 1970; null when it is not. */
  readonly nextAt: number | null;
};

/** How many are remembered, and the characters of their bodies. One that always fails must not hide the other webhooks. */
const MOST = { ofAWebhook: 50, webhooks: 1000, characters: 32 * 1024 * 1024 };

/** The same one for all attempts at the events of one delivery, resent ones included. */
export const deliveryIdOf = ({ delivery: { chainId, body } }: Pick<Attempt, 'delivery'>): string =>
  createHash('sha256').update(`${chainId} ${body}`).digest('hex').slice(0, 32);

/** The newest attempts of each webhook, in the memory of this process. */
export class Attempts {
  /** The newest first. The webhook that was tried last is the last of the map. */
  readonly #ofWebhooks = new Map<string, readonly Attempt[]>();
  #characters = 0;
  /** The deliveries of each webhook that are pending since they were sent again. */
  readonly #resent = new Map<string, Set<string>>();

  record(
    { id: pendingId, retry, due: _, ...pending }: PendingDelivery,
    told: Pick<Attempt, 'at' | 'latencyMs' | 'status' | 'problem' | 'nextAt'>,
  ): void {
    const { webhookId } = pending;
    const known = this.of(webhookId);
    // Attempts at one delivery share its body.
    const before = retry === 0 ? undefined : known.find((each) => each.pendingId === pendingId);
    const attempt = { ...told, delivery: before?.delivery ?? pending, pendingId, retry };
    this.#resent.get(webhookId)?.delete(deliveryIdOf(attempt));
    this.#characters += pending.body.length;
    this.#keep(webhookId, [attempt, ...known], MOST.ofAWebhook);
    for (const [id, attempts] of this.#ofWebhooks) {
      if (this.#ofWebhooks.size > MOST.webhooks) this.#keep(id, attempts, 0);
      else if (this.#characters > MOST.characters) this.#keep(id, attempts, Math.floor(attempts.length / 2));
      else break;
    }
  }

  /** Those of one webhook, the newest first. */
  of(webhookId: string): readonly Attempt[] {
    return this.#ofWebhooks.get(webhookId) ?? [];
  }

  /** Returns whether a delivery is to be sent again: false while it is pending since it was sent again before. */
  beginResend(attempt: Attempt): boolean {
    const { webhookId } = attempt.delivery;
    const deliveryId = deliveryIdOf(attempt);
    const resent = this.#resent.get(webhookId) ?? new Set();
    this.#resent.set(webhookId, resent);
    return !resent.has(deliveryId) && resent.add(deliveryId).size > 0;
  }

  /** Pending deliveries of a webhook were dropped. */
  dropped(webhookId: string): void {
    this.#resent.delete(webhookId);
  }

  forget(webhookId: string): void {
    this.dropped(webhookId);
    this.#keep(webhookId, this.of(webhookId), 0);
  }

  /** Forgets those of a chain's blocks from this number on. */
  dropBlocks(chainId: number, fromNumber: number): void {
    this.#resent.clear();
    const isDropped = ({ delivery }: Attempt) =>
      delivery.chainId === chainId && delivery.blockNumber >= fromNumber;
    for (const [webhookId, attempts] of [...this.#ofWebhooks]) {
      const kept = attempts.filter((attempt) => !isDropped(attempt));
      this.#keep(webhookId, [...kept, ...attempts.filter(isDropped)], kept.length);
    }
  }

  /** Keeps the first `count` of these attempts of a webhook, which are all that it has. */
  #keep(webhookId: string, attempts: readonly Attempt[], count: number): void {
    for (const { delivery } of attempts.slice(count)) this.#characters -= delivery.body.length;
    this.#ofWebhooks.delete(webhookId);
    if (Math.min(count, attempts.length) > 0) this.#ofWebhooks.set(webhookId, attempts.slice(0, count));
  }
}

/** The last attempt at each delivery, the oldest first. */
export const lastOfEach = (attempts: readonly Attempt[]): readonly Attempt[] => {
  const byDelivery = Map.groupBy(attempts, deliveryIdOf);
  return [...byDelivery.values()].flatMap(([last]) => last ?? []).reverse();
};

/** The characters of a body beyond which the list of attempts leaves it out. */
const MOST_SHOWN = 20_000;

/** An attempt as the API returns it. */
export const shownAttempt = (attempt: Attempt): object => {
  const { delivery, at, latencyMs, retry, status, problem, nextAt } = attempt;
  return {
    delivery_id: deliveryIdOf(attempt),
    chain_id: delivery.chainId,
    attempted_at: new Date(at).toISOString(),
    latency_ms: latencyMs,
    retry_index: retry,
    accepted: problem === null,
    status,
    problem,
    next_attempt_at: nextAt === null ? null : new Date(nextAt).toISOString(),
    bytes: Buffer.byteLength(delivery.body),
    body: delivery.body.length > MOST_SHOWN ? null : delivery.body,
  };
};
