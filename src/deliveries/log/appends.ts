import { randomUUID } from 'node:crypto';
import type { Place } from './cursor.ts';
import { LogUnavailableError } from './errors.ts';
import type { AppendListener, Changes, NewDelivery } from './log.ts';

/** The place of a durable delivery. A duplicate has the place of the original. */
export type Stored = Place & { readonly duplicate: boolean };

export const sizeOf = (batch: readonly NewDelivery[]): number =>
  batch.reduce((bytes, { body }) => bytes + body.byteLength, 0);

const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Bounds the bodies that wait to be stored (load shedding). */
export class AppendLimit {
  readonly #maxBytes: number;
  #waitingBytes = 0;

  /** Default: 64 MB. */
  constructor(maxBytes = MAX_WAITING_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Rejects with LogUnavailableError at once when more than `maxBytes` would wait, unless nothing waits yet. */
  async run<Result>(batch: readonly NewDelivery[], append: () => Promise<Result>): Promise<Result> {
    const bytes = sizeOf(batch);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#maxBytes)
      throw new LogUnavailableError('too much waits to be stored');
    this.#waitingBytes += bytes;
    try {
      return await append();
    } finally {
      this.#waitingBytes -= bytes;
    }
  }
}

/** Tenants whose heads are remembered for `changed`. Of others it says that it can't compare. */
const MAX_TENANTS = 10_000;

type Growth = { readonly head: number; readonly version: number };

/** Answers `changed` of a log from the appends that it has recorded. */
export class RecentGrowth {
  /** Is part of each mark, so that the marks of an earlier process or thread are not recognised. */
  readonly #id = randomUUID();
  /** In the order of their last growth. */
  readonly #heads = new Map<string, Growth>();
  #version = 0;
  /** Older marks can't be compared with. */
  #comparableFrom = 0;

  add(tenant: string, head: number): void {
    this.#version += 1;
    this.#heads.delete(tenant);
    this.#heads.set(tenant, { head, version: this.#version });
    if (this.#heads.size <= MAX_TENANTS) return;
    const [oldest] = this.#heads;
    if (oldest === undefined) return;
    this.#heads.delete(oldest[0]);
    this.#comparableFrom = oldest[1].version;
  }

  /** Must be called when growth may have been missed: no mark of before can be compared with. */
  missed(): void {
    this.#version += 1;
    this.#comparableFrom = this.#version;
  }

  since(mark: string | null): Changes {
    const [id, version] = mark?.split(' ') ?? [];
    const since = id === this.#id ? Number(version) : -1;
    const current = `${this.#id} ${this.#version}`;
    if (since < this.#comparableFrom) return { mark: current, heads: null };
    const heads = new Map<string, number>();
    for (const [tenant, { head, version }] of this.#heads) if (version > since) heads.set(tenant, head);
    return { mark: current, heads };
  }
}

/** The listeners of a log's `onAppend`. */
export class AppendListeners {
  readonly #listeners = new Set<{ readonly notify: AppendListener }>();

  add(notify: AppendListener): () => void {
    // The same function may be registered twice, each time until its own removal.
    const listener = { notify };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  notify(tenants: Iterable<string> | null): void {
    for (const { notify } of this.#listeners) notify(tenants);
  }
}
