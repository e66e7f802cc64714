import { parentPort, workerData } from 'node:worker_threads';
import type { RecordStore, Swapped } from '../explorer/client/shared-limits.ts';
import type { ServiceConfig } from './config.ts';
import type { IndexFigures } from './figures.ts';
import { startIndexed } from './indexer.ts';

/** The service over an index, in a thread of the gateway's process: see `startIndexThread` of the gateway. */

/** What the thread is told, or asked. */
export type ToIndex =
  | 'follow'
  | 'figures'
  | 'stop'
  /** The reply to a swap. */
  | { readonly id: number; readonly swapped: Swapped | null };

/** What the thread tells, or asks. */
export type FromIndex =
  | { readonly listening: string }
  | { readonly figures: IndexFigures }
  /** Why it can't say its figures. */
  | { readonly failed: string }
  | { readonly log: string; readonly details: Readonly<Record<string, unknown>> }
  | { readonly id: number; readonly swap: Parameters<RecordStore['swap']> };

/** The store of records, which the gateway has. */
const recordsOver = (tell: (message: FromIndex) => void) => {
  const asked = new Map<number, (reply: Swapped | null) => void>();
  let count = 0;
  const store: RecordStore = {
    swap(...swap) {
      count += 1;
      const { promise, resolve } = Promise.withResolvers<Swapped | null>();
      asked.set(count, resolve);
      tell({ id: count, swap });
      return promise;
    },
  };
  return {
    store,
    replied(id: number, reply: Swapped | null): void {
      asked.get(id)?.(reply);
      asked.delete(id);
    },
  };
};

const run = async (port: NonNullable<typeof parentPort>): Promise<void> => {
  const tell = (message: FromIndex) => port.postMessage(message);
  const config: ServiceConfig = workerData;
  const records = recordsOver(tell);
  const service = await startIndexed({
    ...config,
    records: config.isOneOfSeveral === true ? records.store : undefined,
    log: (log, details) => tell({ log, details }),
  });
  const tellFigures = (): void => {
    try {
      tell({ figures: service.figures() });
    } catch (problem) {
      tell({ failed: String(problem) });
    }
  };
  port.on('message', (message: ToIndex) => {
    if (message === 'follow') service.follow();
    else if (message === 'figures') tellFigures();
    else if (message === 'stop') void service.stop().then(() => port.close());
    else records.replied(message.id, message.swapped);
  });
  tell({ listening: service.url });
};

if (parentPort) await run(parentPort);
