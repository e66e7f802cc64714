// The thread that reads the log, over a connection of its own: a long search waits for no commit, and no commit for it.
import { parentPort, workerData } from 'node:worker_threads';
import type { ReaderCalls } from './messages.ts';
import { packPage } from './page-packing.ts';
import { Reading } from './reading.ts';
import { Reopening } from './reopening.ts';
import { serve } from './serve.ts';

if (parentPort === null) throw new Error('expected to be started as a thread');
const path = String(workerData);
const connection = new Reopening(path, () => new Reading(path));
serve<ReaderCalls>(parentPort, {
  page: ({ tenant, range }) =>
    connection.useFor(async (reading) => packPage(await reading.page(tenant, range))),
  get: ({ tenant, cursor }) => connection.use((reading) => reading.get(tenant, cursor)),
  close: () => {
    connection.close();
    return null;
  },
});
