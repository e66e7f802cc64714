import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createRoundRobinScheduler } from '../../../lib/fair-slices.ts';
import { SqliteReader } from '../reader.ts';
import { packPage } from './packing.ts';
import { type ReaderMethods, serve } from './protocol.ts';
import { ReconnectingDatabase } from './reconnecting.ts';

// Entry of the thread that reads the log. Its connection is its own: no search delays a commit, and no commit a search.

/** Reads the log at `path` for the requests that arrive at the port. */
export const serveLog = (port: MessagePort, path: string): void => {
  const database = new ReconnectingDatabase(path, () => new SqliteReader(path));
  const scheduler = createRoundRobinScheduler();
  serve<ReaderMethods>(port, {
    page: async ({ caller, tenant, range }, signal) =>
      packPage(
        await database.withConnectionAsync((reader) =>
          reader.page(tenant, range, (steps) => scheduler.runSteps(caller, steps, signal)),
        ),
      ),
    get: ({ caller, tenant, cursor }, signal) =>
      database.withConnectionAsync((reader) =>
        scheduler.run(caller, () => reader.get(tenant, cursor), signal),
      ),
    check: () => {
      database.withConnection((reader) => reader.checkReadable());
      return null;
    },
    open: () => {
      database.reopen();
      return null;
    },
    verify: async () => {
      await database.withConnectionAsync((reader) => scheduler.runSteps('', reader.verify()));
      return null;
    },
    close: () => {
      database.close();
      return null;
    },
  });
};

if (parentPort !== null && typeof workerData === 'string') serveLog(parentPort, workerData);
