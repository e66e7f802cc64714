import { parentPort, workerData } from 'node:worker_threads';

/** Asks a gateway whether it lives, again and again, from a thread that nothing else holds up; tells the longest wait. */
let longest = 0;
let asked = 0;
const ask = async (): Promise<void> => {
  const since = performance.now();
  const response = await fetch(`${workerData}/health/live`).catch(() => null);
  await response?.text();
  if (response?.status !== 200) parentPort?.postMessage('dead');
  longest = Math.max(longest, performance.now() - since);
  asked += 1;
  setTimeout(ask, 20);
};
await ask();
parentPort?.on('message', () => {
  parentPort?.postMessage({ longest, asked });
  longest = 0;
  asked = 0;
});
parentPort?.postMessage('ready');
