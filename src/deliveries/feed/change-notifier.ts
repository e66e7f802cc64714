import { isTransient } from '../log/errors.ts';
import type { LogGrowth } from '../log/log.ts';

/** The callbacks of a reader that waits for more of one tenant's log. */
export type ChangeListener = {
  /** The log may have grown. This is a hint: it may come late, twice or without a change. */
  onChange(): void;
  /** A poll has found that the log has grown up to the sequence number `head`. */
  onPoll(head: number): void;
};

const POLL_MS = 1000;

/**
 * Calls a tenant's listeners when its log may have grown. The log itself calls back after an append. If such a call is lost,
 * a poll every `pollMs` (default: 1000) finds the tenants whose logs have grown since the poll before.
 *
 * There is one poll for all tenants, so idle tenants cost nothing. A poll that fails calls no listener.
 */
export class ChangeNotifier {
  readonly #log: LogGrowth;
  readonly #pollMs: number;
  readonly #byTenant = new Map<string, Set<ChangeListener>>();
  /** Ends the subscription to the log; null while there are no listeners. */
  #unsubscribe: (() => void) | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  /** The mark of the last poll; null before the log's first answer. Listeners know of all growth up to it. */
  #mark: string | null = null;
  #hasFailed = false;

  constructor(log: LogGrowth, pollMs = POLL_MS) {
    this.#log = log;
    this.#pollMs = pollMs;
  }

  /** Adds a listener for the tenant's log. The returned function removes it. */
  subscribe(tenant: string, listener: ChangeListener): () => void {
    const listeners = this.#byTenant.get(tenant) ?? new Set();
    this.#byTenant.set(tenant, listeners.add(listener));
    this.#start();
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#byTenant.delete(tenant);
      if (this.#byTenant.size === 0) this.#stop();
    };
  }

  #start(): void {
    this.#unsubscribe ??= this.#log.onAppend((tenants) => this.#notify(tenants));
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(this.#poll, this.#pollMs).unref();
    void this.#poll();
  }

  /** The timer runs until the next poll, so that listeners that come and go don't cause a poll each. */
  #stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
  }

  #notify(tenants: Iterable<string> | null): void {
    for (const tenant of tenants ?? [...this.#byTenant.keys()])
      for (const listener of this.#byTenant.get(tenant) ?? []) listener.onChange();
  }

  /** Skips a poll while the one before is still under way, however slow the log is. */
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

  /** Rejects while the log is unavailable. */
  async #pollLog(): Promise<void> {
    try {
      const since = this.#mark;
      const { mark, heads } = await this.#log.changed(since);
      this.#mark = mark;
      const isUnknown = heads === null && (since !== null || this.#hasFailed);
      this.#hasFailed = false;
      if (isUnknown) return this.#notify(null);
      for (const [tenant, head] of heads ?? [])
        for (const listener of this.#byTenant.get(tenant) ?? []) listener.onPoll(head);
    } catch (error) {
      this.#hasFailed = true;
      if (isTransient(error)) throw error;
      // The log is closed for good. Listeners get the error when they read.
      this.#notify(null);
    }
  }
}

const ignore = () => {};
