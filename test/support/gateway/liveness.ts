import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Shipped } from './process.ts';

/**
 * Polls /health/live of a gateway's process, while something happens to it, from a thread that the test does not block.
 * A wait is measured by the time for which the gateway's main thread ran before it answered: what blocks its event loop is
 * seen, and a busy machine, on which it runs seldom, makes no wait longer.
 */
export const watchLiveness = async ({ url, pid }: Pick<Shipped, 'url' | 'pid'>) => {
  const thread = new Worker(new URL('./liveness-thread.ts', import.meta.url), { workerData: { url, pid } });
  await once(thread, 'message');
  return {
    /** Asks once more. Resolves with the longest wait since the last call, in milliseconds. Throws if one was not answered. */
    async longestWait(): Promise<number> {
      thread.postMessage('tell');
      const [{ longest, failures }] = await once(thread, 'message');
      if (failures > 0) throw new Error(`Expected 200 of each /health/live, got none of ${failures}.`);
      return longest;
    },
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  };
};
