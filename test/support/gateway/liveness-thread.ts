import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/** Polls /health/live of a gateway from a thread of its own, and answers each message with the longest wait since the last. */

const { url, pid }: { url: string; pid: number } = workerData;

/** The milliseconds for which the gateway's main thread has run; where the system does not tell, those that have passed. */
const elapsed = (): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
};

let longest = 0;
let failures = 0;
const ask = async (): Promise<void> => {
  const since = elapsed();
  const response = await fetch(`${url}/health/live`).catch(() => null);
  await response?.text();
  if (response?.status !== 200) failures += 1;
  longest = Math.max(longest, elapsed() - since);
};
const poll = async (): Promise<void> => {
  await ask();
  setTimeout(poll, 20);
};
await poll();
parentPort?.on('message', async () => {
  await ask();
  parentPort?.postMessage({ longest, failures });
  longest = 0;
});
parentPort?.postMessage('ready');
