import { parentPort, workerData } from 'node:worker_threads';
import type { RecordStore, Swapped } from '../explorer/client/shared-limits.ts';
import type { AnswerPart, Arrived } from '../http/http.ts';
import type { ServiceConfig } from './config.ts';
import type { IndexFigures } from './figures.ts';
import { startIndexed } from './indexer.ts';

/** The service over an index, in a thread of the gateway's process: see `startIndexThread` of the gateway. */

/** What the thread is told, or asked. */
export type ToIndex =
  | 'follow'
  | 'figures'
  | 'stop'
  | { readonly id: number; readonly asked: Arrived }
  /** The client of this request waits no longer. */
  | { readonly left: number }
  /** The reply to a swap. */
  | { readonly id: number; readonly swapped: Swapped | null };

/** What the thread tells, or asks. */
export type FromIndex =
  /** It has started. */
  | 'ready'
  | { readonly id: number; readonly part: AnswerPart }
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
  const leave = new Map<number, () => void>();
  /** The bytes move to the gateway's thread, and are not copied. */
  const tellPart = (id: number, part: AnswerPart): void => {
    if (part.end !== undefined) leave.delete(id);
    port.postMessage({ id, part } satisfies FromIndex, part.chunk === undefined ? [] : [part.chunk.buffer]);
  };
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
    else if ('asked' in message)
      leave.set(
        message.id,
        service.ask(message.asked, (part) => tellPart(message.id, part)),
      );
    else if ('left' in message) {
      leave.get(message.left)?.();
      leave.delete(message.left);
    } else records.replied(message.id, message.swapped);
  });
  tell('ready');
};

if (parentPort) await run(parentPort);
