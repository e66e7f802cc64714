// Entry of the thread that writes the log, so that the disk never blocks the gateway's main thread.
import { parentPort, workerData } from 'node:worker_threads';
import { Writer } from '../write/writer.ts';
import { serve, type WriterMethods } from './protocol.ts';

if (parentPort === null) throw new Error('expected to be started as a thread');
const writer = new Writer(String(workerData));
serve<WriterMethods>(parentPort, {
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
