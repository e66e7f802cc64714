import type { PendingDelivery } from './store.ts';

/** The deliveries that are being sent, or whose outcome is not recorded yet: at most one of each webhook. */
export class InFlight {
  readonly #byWebhook = new Map<string, AbortController>();
  readonly #byUrl = new Map<string, number>();

  begin(url: string, { webhookId }: PendingDelivery): AbortSignal {
    const controller = new AbortController();
    this.#byWebhook.set(webhookId, controller);
    this.#byUrl.set(url, this.countTo(url) + 1);
    return controller.signal;
  }

  /** A request to the url has ended. */
  free(url: string): void {
    const left = this.countTo(url) - 1;
    if (left > 0) this.#byUrl.set(url, left);
    else this.#byUrl.delete(url);
  }

  end({ webhookId }: PendingDelivery): void {
    this.#byWebhook.delete(webhookId);
  }

  has(webhookId: string): boolean {
    return this.#byWebhook.has(webhookId);
  }

  countTo(url: string): number {
    return this.#byUrl.get(url) ?? 0;
  }

  get count(): number {
    return this.#byWebhook.size;
  }

  abort(webhookId: string): void {
    this.#byWebhook.get(webhookId)?.abort();
  }

  abortAll(): void {
    for (const controller of this.#byWebhook.values()) controller.abort();
  }
}
