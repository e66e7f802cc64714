// The thread that reads the log, over a connection of its own: a long search waits for no commit, and no commit for it.
import { parentPort, workerData } from 'node:worker_threads';
import { createRoundRobinScheduler } from '../../../lib/round-robin-scheduler.ts';
import { LogReader } from '../read/reader.ts';
import { packPage } from './page-packing.ts';
import type { ReaderMethods } from './protocol.ts';
import { ReconnectingDatabase } from './reconnecting.ts';
import { serve } from './server.ts';

if (parentPort === null) throw new Error('expected to be started as a thread');
const path = String(workerData);
const connection = new ReconnectingDatabase(path, () => new LogReader(path));
const scheduler = createRoundRobinScheduler();
serve<ReaderMethods>(parentPort, {
  page: async ({ caller, tenant, range }, signal) =>
    packPage(
      await connection.withConnectionFor((reader) =>
        scheduler.runSteps(caller, reader.page(tenant, range), signal),
      ),
    ),
  get: ({ caller, tenant, cursor }, signal) =>
    connection.withConnectionFor((reader) => scheduler.run(caller, () => reader.get(tenant, cursor), signal)),
  probe: () => {
    connection.withConnection((reader) => reader.checkReadable());
    return null;
  },
  open: () => {
    connection.reopen();
    return null;
  },
  verify: async () => {
    await connection.withConnectionFor((reader) => scheduler.runSteps('', reader.verify()));
    return null;
  },
  close: () => {
    connection.close();
    return null;
  },
});
