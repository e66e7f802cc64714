import { EventEmitter } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { openSqliteLog } from '../../../src/deliveries/sqlite/log.ts';
import type { StartThread, Thread } from '../../../src/deliveries/sqlite/threads/log-threads.ts';

const shared = new Map<string, Worker>();

/**
 * Serves a log by a thread that all logs of this process share: one writes, one reads. To start two threads for each log
 * takes several times as long as everything else that a gateway does to start.
 */
const startThread: StartThread = (entry, path) => {
  let worker = shared.get(entry.href);
  if (worker === undefined) {
    worker = new Worker(new URL('./log-thread.ts', import.meta.url), { workerData: { entry: entry.href } });
    worker.unref();
    shared.set(entry.href, worker);
  }
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ path, port: port2 }, [port2]);
  return new SharedThread(port1);
};

/** As `openSqliteLog`, which starts two threads for each log. */
export const openLogInSharedThreads: typeof openSqliteLog = (options) =>
  openSqliteLog({ startThread, ...options });

class SharedThread extends EventEmitter implements Thread {
  readonly #port;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on('message', (responses) => this.emit('message', responses));
    port.on('close', () => this.emit('exit'));
  }

  postMessage(...[message, transfer = []]: Parameters<Thread['postMessage']>): void {
    this.#port.postMessage(message, [...transfer]);
  }

  async terminate(): Promise<void> {
    this.#port.close();
  }
}
