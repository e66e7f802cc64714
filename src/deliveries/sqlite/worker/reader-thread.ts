// The thread that reads the log, over a connection of its own: a long search waits for no commit, and no commit for it.
import { parentPort, workerData } from 'node:worker_threads';
import { FairScheduler } from '../../../lib/fair-scheduler.ts';
import { Reading } from '../read/reader.ts';
import { packPage } from './page-packing.ts';
import type { ReaderCalls } from './protocol.ts';
import { Reopening } from './reconnecting.ts';
import { serve } from './server.ts';

if (parentPort === null) throw new Error('expected to be started as a thread');
const path = String(workerData);
const connection = new Reopening(path, () => new Reading(path));
const scheduler = new FairScheduler();
serve<ReaderCalls>(parentPort, {
  page: async ({ caller, tenant, range }, signal) =>
    packPage(
      await connection.useFor((reading) => scheduler.runSteps(caller, reading.page(tenant, range), signal)),
    ),
  get: ({ caller, tenant, cursor }, signal) =>
    connection.useFor((reading) => scheduler.run(caller, () => reading.get(tenant, cursor), signal)),
  probe: () => {
    connection.use((reading) => reading.prove());
    return null;
  },
  open: () => {
    connection.reopen();
    return null;
  },
  verify: async () => {
    await connection.useFor((reading) => scheduler.runSteps('', reading.verify()));
    return null;
  },
  close: () => {
    connection.close();
    return null;
  },
});
