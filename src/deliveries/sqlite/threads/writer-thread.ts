import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Writer } from '../writer.ts';
import { serve, type WriterMethods } from './protocol.ts';

// Entry of the thread that writes the log, so that the disk never blocks the gateway's main thread.

/** Writes the log at `path` for the requests that arrive at the port. */
export const serveLog = (port: MessagePort, path: string): void => {
  const writer = new Writer(path);
  serve<WriterMethods>(port, {
    open: (options) => writer.open(options),
    append: (packed) => writer.append(packed),
    changed: (mark) => writer.changed(mark),
    trim: async (trim) => {
      await writer.trim(trim);
      return null;
    },
    check: () => {
      writer.check();
      return null;
    },
    close: () => {
      writer.close();
      return null;
    },
  });
};

if (parentPort !== null && typeof workerData === 'string') serveLog(parentPort, workerData);
