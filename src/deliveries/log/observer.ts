import { LogUnavailableError, UnstorableError } from './errors.ts';
import type { DeliveryLog, NewDelivery } from './log.ts';

type AppendedBatch = {
  /** The number of deliveries stored; duplicates don't count. */
  readonly stored: number;
  readonly duplicates: number;
  /** The size of the stored bodies. */
  readonly storedBytes: number;
  /** Milliseconds until the batch was durable. */
  readonly durationMs: number;
};

/** Reports the log's work and failures to metrics and the logger. */
export type LogObserver = {
  /** Bodies of so many more bytes wait to become durable; a negative number when they are durable or refused. */
  waiting(bytes: number): void;
  appended(batch: AppendedBatch): void;
  /** A read or a check has succeeded. */
  read(): void;
  /** An append or a read has failed with LogUnavailableError. */
  failed(task: 'append' | 'read', error: unknown): void;
  /** The log was found damaged (LogDamagedError). It stores and reads nothing until `recovered` is called. */
  damaged(error: unknown): void;
  recovered(): void;
  /** A delivery can't be stored, by its own fault (UnstorableError). Others are stored. */
  refused(error: unknown): void;
};

/** Wraps a log so that each call is reported to the observer. */
export const observeLog = (log: DeliveryLog, observer: LogObserver): DeliveryLog => {
  const reading = async <Result>(answer: Promise<Result>): Promise<Result> => {
    try {
      const result = await answer;
      observer.read();
      return result;
    } catch (error) {
      // A wrong cursor is the client's fault, not the log's.
      if (error instanceof LogUnavailableError) observer.failed('read', error);
      throw error;
    }
  };

  return {
    async append(batch) {
      const startedAt = performance.now();
      const bytes = sizeOf(batch);
      observer.waiting(bytes);
      try {
        const results = await log.append(batch);
        const stored = batch.filter((_delivery, index) => !results[index]?.duplicate);
        observer.appended({
          stored: stored.length,
          duplicates: batch.length - stored.length,
          storedBytes: sizeOf(stored),
          durationMs: performance.now() - startedAt,
        });
        return results;
      } catch (error) {
        if (error instanceof UnstorableError) observer.refused(error);
        else observer.failed('append', error);
        throw error;
      } finally {
        observer.waiting(-bytes);
      }
    },
    read: (tenant, range, options) => reading(log.read(tenant, range, options)),
    get: (tenant, cursor, options) => reading(log.get(tenant, cursor, options)),
    // Not reported: the log may answer from memory, so success says nothing about the store.
    head: (tenant) => log.head(tenant),
    check: () => reading(log.check()),
    changed: (mark) => log.changed(mark),
    trim: () => log.trim(),
    onAppend: (listener) => log.onAppend(listener),
    close: () => log.close(),
  };
};

const sizeOf = (batch: readonly NewDelivery[]): number =>
  batch.reduce((bytes, { body }) => bytes + body.byteLength, 0);
