import type { Trace } from '../../lib/trace.ts';
import { sizeOf } from './appends.ts';
import { LogUnavailableError, UnstorableError } from './errors.ts';
import type { AppendResult, DeliveryLog, DeliveryReads, LogSize, StoredDelivery } from './log.ts';

type AppendedBatch = {
  /** The number of deliveries stored; duplicates don't count. */
  readonly stored: number;
  readonly duplicates: number;
  /** The size of the stored bodies. */
  readonly storedBytes: number;
  /** Milliseconds until the batch was durable. */
  readonly durationMs: number;
  /** Where each delivery of the batch is. */
  readonly results: readonly AppendResult[];
  readonly trace: Trace | null;
};

export type LogTask = 'append' | 'read' | 'check' | 'checkpoint';

/** Reports the log's work and failures to metrics and the logger. */
export type LogObserver = {
  /** The log is open. `size` measures it, and rejects with LogUnavailableError or LogClosedError. */
  opened?(size: () => Promise<LogSize>): void;
  /**
   * The bytes of bodies that wait to become durable have changed by this number: negative when they are durable or refused.
   */
  waiting?(bytes: number): void;
  /** An append begins; `appended`, `failed` or `refused` follows with the trace that this returns. */
  appending?(trace: Trace): Trace | undefined;
  appended?(batch: AppendedBatch): void;
  /** A read, a check or a checkpoint (of a log in a folder) has succeeded. */
  read?(): void;
  checked?(): void;
  checkpointed?(): void;
  /** It has failed with LogUnavailableError. After a failed checkpoint the log stores and reads as before, but its files grow. */
  failed?(task: LogTask, error: unknown, trace: Trace | null): void;
  /** The log was found damaged (LogDamagedError). It stores and reads nothing until `recovered` is called. */
  damaged?(error: unknown): void;
  recovered?(): void;
  /** A delivery can't be stored, by its own fault (UnstorableError). Others are stored. */
  refused?(error: unknown, trace: Trace | null): void;
};

/** Is called with what is read of the log, before its reader gets it. */
export type ReadListener = {
  readonly onHead: (tenant: string, head: string) => void;
  readonly onDelivery: (delivery: StoredDelivery) => void;
};

/** What clients and the service do with a log, once each call is observed. */
export type ObservedLog = DeliveryReads & Pick<DeliveryLog, 'append' | 'check'>;

/** Wraps a log so that each call is reported to the observer, and what is read to the listener. */
export const observeLog = (
  log: DeliveryLog,
  observer: LogObserver,
  listener: ReadListener | null,
): ObservedLog => {
  const reporting = async <Result>(
    task: 'read' | 'check',
    answer: Promise<Result>,
    succeeded: () => void,
  ): Promise<Result> => {
    try {
      const result = await answer;
      succeeded();
      return result;
    } catch (error) {
      // A wrong cursor is the client's fault, not the log's.
      if (error instanceof LogUnavailableError) observer.failed?.(task, error, null);
      throw error;
    }
  };
  const reading = <Result>(answer: Promise<Result>) => reporting('read', answer, () => observer.read?.());

  observer.opened?.(() => log.size());
  return {
    async append(batch, given) {
      const startedAt = performance.now();
      const bytes = sizeOf(batch);
      observer.waiting?.(bytes);
      const trace = given ? (observer.appending?.(given) ?? given) : null;
      try {
        const results = await log.append(batch);
        const stored = batch.filter((_delivery, index) => !results[index]?.duplicate);
        observer.appended?.({
          stored: stored.length,
          duplicates: batch.length - stored.length,
          storedBytes: sizeOf(stored),
          durationMs: performance.now() - startedAt,
          results,
          trace,
        });
        return results;
      } catch (error) {
        if (error instanceof UnstorableError) observer.refused?.(error, trace);
        else observer.failed?.('append', error, trace);
        throw error;
      } finally {
        observer.waiting?.(-bytes);
      }
    },
    async read(tenant, range, options) {
      const page = await reading(log.read(tenant, range, options));
      listener?.onHead(tenant, page.head);
      for (const delivery of page.deliveries) listener?.onDelivery(delivery);
      return page;
    },
    async get(tenant, cursor, options) {
      const delivery = await reading(log.get(tenant, cursor, options));
      if (delivery !== null) listener?.onDelivery(delivery);
      return delivery;
    },
    // Not reported to the observer: the log may answer from memory, so success says nothing about the store.
    async head(tenant) {
      const head = await log.head(tenant);
      listener?.onHead(tenant, head);
      return head;
    },
    check: () => reporting('check', log.check(), () => observer.checked?.()),
  };
};
