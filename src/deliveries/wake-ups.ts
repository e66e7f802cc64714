import { isPassing } from './errors.ts';
import type { DeliveryLog } from './log.ts';

/** Who waits for more of a tenant's log. */
export type LogWatcher = {
  /** There may be more: a hint, as the log gives it. */
  grown(): void;
  /** Told at each poll: the log's end, or null when it can't be read and never will be again. */
  polled(head: string | null): void;
};

type Watched = { readonly watchers: Set<LogWatcher>; readonly stop: () => void };

const POLL_MS = 1000;

/**
 * Tells when there may be more to read. The log calls back when it has grown; in case that is lost, it is looked at
 * once in `pollMs` (default: 1000) for all who watch the same tenant. While it can't be read, polls tell nothing.
 */
export class WakeUps {
  readonly #log: DeliveryLog;
  readonly #pollMs: number;
  readonly #byTenant = new Map<string, Watched>();

  constructor(log: DeliveryLog, pollMs = POLL_MS) {
    this.#log = log;
    this.#pollMs = pollMs;
  }

  /** Until the returned function is called. */
  watch(tenant: string, watcher: LogWatcher): () => void {
    const { watchers, stop } = this.#byTenant.get(tenant) ?? this.#start(tenant);
    watchers.add(watcher);
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      this.#byTenant.delete(tenant);
      stop();
    };
  }

  #start(tenant: string): Watched {
    const watchers = new Set<LogWatcher>();
    const unsubscribe = this.#log.onAppend(tenant, () => {
      for (const watcher of watchers) watcher.grown();
    });
    const tell = (head: string | null) => {
      for (const watcher of watchers) watcher.polled(head);
    };
    let isPolling = false;
    const poll = () => {
      // One at a time, however slow the log.
      if (isPolling) return;
      isPolling = true;
      const answered = () => {
        isPolling = false;
      };
      this.#headOf(tenant).finally(answered).then(tell, ignore);
    };
    const timer = setInterval(poll, this.#pollMs).unref();
    const stop = () => {
      unsubscribe();
      clearInterval(timer);
    };
    const watched = { watchers, stop };
    this.#byTenant.set(tenant, watched);
    return watched;
  }

  /** Rejects while the log can't be read. */
  async #headOf(tenant: string): Promise<string | null> {
    try {
      // A log may know of a head without looking: by what it was told, as is who waits. This looks.
      return (await this.#log.read(tenant, { limit: 0 })).head;
    } catch (error) {
      if (isPassing(error)) throw error;
      return null;
    }
  }
}

const ignore = () => {};
