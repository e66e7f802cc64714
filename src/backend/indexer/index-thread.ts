import { parentPort, workerData } from 'node:worker_threads';
import type { ServiceConfig } from './config.ts';
import type { IndexFigures } from './figures.ts';
import { startIndexed } from './indexer.ts';

/** The service over an index, in a thread of the gateway's process: see `startIndexThread` of the gateway. */

/** What the thread is told, or asked. */
export type ToIndex = 'follow' | 'figures' | 'stop';

/** What the thread tells. */
export type FromIndex =
  | { readonly listening: string }
  | { readonly figures: IndexFigures }
  /** Why it can't say its figures. */
  | { readonly failed: string }
  | { readonly log: string; readonly details: Readonly<Record<string, unknown>> };

const run = async (port: NonNullable<typeof parentPort>): Promise<void> => {
  const tell = (message: FromIndex) => port.postMessage(message);
  const config: ServiceConfig = workerData;
  const service = await startIndexed({ ...config, log: (log, details) => tell({ log, details }) });
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
    else void service.stop().then(() => port.close());
  });
  tell({ listening: service.url });
};

if (parentPort) await run(parentPort);
