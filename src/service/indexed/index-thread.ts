import { parentPort, workerData } from 'node:worker_threads';
import type { ServiceConfig } from './config.ts';
import { startIndexed } from './indexed.ts';

/** The service over an index, in a thread of the gateway's process: see `startIndexThread` of the gateway. */

/** What the thread is told. */
export type ToIndex = 'follow' | 'stop';

/** What the thread tells. */
export type FromIndex =
  | { readonly listening: string }
  | { readonly log: string; readonly details: Readonly<Record<string, unknown>> };

const run = async (port: NonNullable<typeof parentPort>): Promise<void> => {
  const tell = (message: FromIndex) => port.postMessage(message);
  const config: ServiceConfig = workerData;
  const service = await startIndexed({ ...config, log: (log, details) => tell({ log, details }) });
  port.on('message', (message: ToIndex) => {
    if (message === 'follow') service.follow();
    else void service.stop().then(() => port.close());
  });
  tell({ listening: service.url });
};

if (parentPort) await run(parentPort);
