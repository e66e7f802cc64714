import { LogUnavailableError, UnstorableError } from './errors.ts';
import type { DeliveryLog, NewDelivery } from './log.ts';
import type { LogObserver } from './observer.ts';

/** The same log; `observer` is told how it does. */
export const observeLog = (log: DeliveryLog, observer: LogObserver): DeliveryLog => {
  const reading = async <Result>(answer: Promise<Result>): Promise<Result> => {
    try {
      const result = await answer;
      observer.read();
      return result;
    } catch (error) {
      // Whoever brings a wrong cursor is at fault, not the log.
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
        const answers = await log.append(batch);
        const fresh = batch.filter((_delivery, index) => !answers[index]?.duplicate);
        observer.appended({
          stored: fresh.length,
          duplicates: batch.length - fresh.length,
          storedBytes: sizeOf(fresh),
          durationMs: performance.now() - startedAt,
        });
        return answers;
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
    // Answered from memory, so that success says nothing about the store.
    head: (tenant) => log.head(tenant),
    probe: () => reading(log.probe()),
    changed: (mark) => log.changed(mark),
    trim: () => log.trim(),
    onAppend: (tenant, listener) => log.onAppend(tenant, listener),
    close: () => log.close(),
  };
};

const sizeOf = (batch: readonly NewDelivery[]): number =>
  batch.reduce((bytes, { body }) => bytes + body.byteLength, 0);
