import { isTransient } from '../log/errors.ts';
import type { DeliveryLog } from '../log/log.ts';

/** Who waits for more of a tenant's log. */
export type ChangeListener = {
  /** There may be more: a hint, as the log gives it. */
  changed(): void;
  /** A poll has found that the log has grown: to this sequence. */
  onPoll(head: number): void;
};

type Watched = { readonly watchers: Set<ChangeListener>; readonly stop: () => void };

const POLL_MS = 1000;

/**
 * Calls watchers when there may be more to read. The log calls back when it grows. In case a call is lost, one poll every
 * `pollMs` (default: 1000) asks which tenants' logs have grown, and calls their watchers. Idle tenants cost nothing,
 * however many. While the log can't be read, polls call nothing.
 */
export class ChangeNotifier {
  readonly #log: DeliveryLog;
  readonly #pollMs: number;
  readonly #byTenant = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  /** Growth up to this mark was passed on to watchers; null before the log's first answer. */
  #mark: string | null = null;
  #hasFailed = false;

  constructor(log: DeliveryLog, pollMs = POLL_MS) {
    this.#log = log;
    this.#pollMs = pollMs;
  }

  /** Until the returned function is called. */
  watch(tenant: string, watcher: ChangeListener): () => void {
    const { watchers, stop } = this.#byTenant.get(tenant) ?? this.#start(tenant);
    watchers.add(watcher);
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      this.#byTenant.delete(tenant);
      stop();
    };
  }

  #start(tenant: string): Watched {
    const watchers = new Set<ChangeListener>();
    const stop = this.#log.onAppend(tenant, () => {
      for (const watcher of watchers) watcher.changed();
    });
    const watched = { watchers, stop };
    this.#byTenant.set(tenant, watched);
    if (this.#timer === undefined) {
      this.#timer = setInterval(this.#poll, this.#pollMs).unref();
      void this.#poll();
    }
    return watched;
  }

  /** One at a time, however slow the log. */
  readonly #poll = async (): Promise<void> => {
    if (this.#byTenant.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#mark = null;
    } else if (!this.#isPolling) {
      this.#isPolling = true;
      await this.#pollLog().catch(ignore);
      this.#isPolling = false;
    }
  };

  /** Rejects while the log can't answer. */
  async #pollLog(): Promise<void> {
    try {
      const since = this.#mark;
      const { mark, heads } = await this.#log.changed(since);
      this.#mark = mark;
      const isUnknown = heads === null && (since !== null || this.#hasFailed);
      this.#hasFailed = false;
      if (isUnknown) return this.#notifyAll();
      for (const [tenant, head] of heads ?? [])
        for (const watcher of this.#byTenant.get(tenant)?.watchers ?? []) watcher.onPoll(head);
    } catch (error) {
      this.#hasFailed = true;
      if (isTransient(error)) throw error;
      // The log is closed for good: watchers learn it when they read.
      this.#notifyAll();
    }
  }

  #notifyAll(): void {
    for (const { watchers } of this.#byTenant.values()) for (const watcher of watchers) watcher.changed();
  }
}

const ignore = () => {};
