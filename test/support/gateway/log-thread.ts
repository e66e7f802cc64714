import { parentPort, workerData } from 'node:worker_threads';

/** Serves any number of logs, each at a port of its own, as a thread of the gateway serves one. */

const { serveLog } = await import(workerData.entry);
parentPort?.on('message', ({ path, port }) => serveLog(port, path));
