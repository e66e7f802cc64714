import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Asks a gateway from outside whether it lives, while something happens to it. */
export const watchLiveness = async (url: string) => {
  const thread = new Worker(new URL('./liveness-thread.ts', import.meta.url), { workerData: url });
  await once(thread, 'message');
  return {
    /** The longest that it let anybody wait since it was asked last, in milliseconds. */
    async longestWait(): Promise<number> {
      thread.postMessage('tell');
      const [received] = await once(thread, 'message');
      if (received === 'dead') throw new Error('the gateway did not answer that it lives');
      return received.longest;
    },
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  };
};
