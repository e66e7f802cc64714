import { createHash } from 'node:crypto';
import type { Delivery, PendingDelivery } from './store.ts';

/** What came of an attempt at a delivery. */
export type Attempt = {
  /** The same one for all attempts at the events of one delivery, resent ones included. */
  readonly deliveryId: string;
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

const idOf = ({ chainId, body }: Delivery): string =>
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
    const known = this.of(pending.webhookId);
    const deliveryId = idOf(pending);
    // Attempts at one delivery share its body.
    const body = known.find((each) => each.deliveryId === deliveryId)?.delivery.body ?? pending.body;
    const delivery = { ...pending, body };
    this.#resent.get(pending.webhookId)?.delete(deliveryId);
    this.#put(pending.webhookId, [{ ...told, deliveryId, delivery, pendingId, retry }, ...known]);
    for (const [webhookId, attempts] of this.#ofWebhooks) {
      if (this.#ofWebhooks.size > MOST.webhooks) this.#put(webhookId, []);
      else if (this.#characters > MOST.characters)
        this.#put(webhookId, attempts.slice(0, Math.floor(attempts.length / 2)));
      else break;
    }
  }

  /** Those of one webhook, the newest first. */
  of(webhookId: string): readonly Attempt[] {
    return this.#ofWebhooks.get(webhookId) ?? [];
  }

  /** Returns whether a delivery is to be sent again: false while it is pending since it was sent again before. */
  beginResend({ delivery: { webhookId }, deliveryId }: Attempt): boolean {
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
    this.#put(webhookId, []);
  }

  /** Forgets those of a chain's blocks from this number on. */
  dropBlocks(chainId: number, fromNumber: number): void {
    this.#resent.clear();
    for (const [webhookId, attempts] of [...this.#ofWebhooks])
      this.#put(
        webhookId,
        attempts.filter(({ delivery }) => delivery.chainId !== chainId || delivery.blockNumber < fromNumber),
      );
  }

  #put(webhookId: string, attempts: readonly Attempt[]): void {
    const kept = attempts.slice(0, MOST.ofAWebhook);
    this.#characters += charactersOf(kept) - charactersOf(this.of(webhookId));
    this.#ofWebhooks.delete(webhookId);
    if (kept.length > 0) this.#ofWebhooks.set(webhookId, kept);
  }
}

const charactersOf = (attempts: readonly Attempt[]): number =>
  attempts.reduce((sum, { delivery }) => sum + delivery.body.length, 0);

/** The last attempt at each delivery, the oldest first. */
export const lastOfEach = (attempts: readonly Attempt[]): readonly Attempt[] => {
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return [...byDelivery.values()].flatMap(([last]) => last ?? []).reverse();
};

/** The characters of a body beyond which the list of attempts leaves it out. */
const MOST_SHOWN = 20_000;

/** An attempt as the API returns it. */
export const shownAttempt = (attempt: Attempt): object => {
  const { deliveryId, delivery, at, latencyMs, retry, status, problem, nextAt } = attempt;
  return {
    delivery_id: deliveryId,
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
