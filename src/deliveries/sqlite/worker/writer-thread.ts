// The thread that writes the log: nothing here, and no disk, ever holds up the gateway's own thread.
import { parentPort, workerData } from 'node:worker_threads';
import { Writer } from '../write/writer.ts';
import type { WriterMethods } from './protocol.ts';
import { serve } from './server.ts';

if (parentPort === null) throw new Error('expected to be started as a thread');
const writer = new Writer(String(workerData));
serve<WriterMethods>(parentPort, {
  open: (how) => writer.open(how),
  append: (packed) => writer.append(packed),
  changed: (mark) => writer.changed(mark),
  trim: async ({ retention, now }) => {
    await writer.trim(retention, now);
    return null;
  },
  close: () => {
    writer.close();
    return null;
  },
});
