import type { Log } from './log.ts';
import type { PendingDelivery } from './store.ts';

/** How often a url that refuses everything is logged, for each status. */
const TELL_AGAIN_MS = 60_000;

/** Logs refused deliveries: the first of a webhook with each status, and later how many there were. */
export class Refusals {
  readonly #log: Log;
  readonly #told = new Map<string, { readonly at: number; untold: number }>();

  constructor(log: Log) {
    this.#log = log;
  }

  tell({ webhookId, chainId, retry, body }: PendingDelivery, status: number): void {
    const now = Date.now();
    const key = `${webhookId} ${status}`;
    const last = this.#told.get(key);
    if (last !== undefined && now - last.at < TELL_AGAIN_MS) {
      last.untold += 1;
      return;
    }
    this.#told.set(key, { at: now, untold: 0 });
    this.#log('delivery refused', {
      ...{ webhookId, chainId, status, bytes: Buffer.byteLength(body), retry },
      ...(last !== undefined && last.untold > 0 && { othersSince: last.untold }),
      problem: `its url answered ${status}`,
    });
  }
}
