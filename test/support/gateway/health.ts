import { setTimeout as delay } from 'node:timers/promises';

/** Asks /health/live again and again, as a balancer does, until it is disposed of. */
export const watchHealth = (url: string) => {
  let watching = true;
  let longestMs = 0;
  let failures = 0;
  const ask = async () => {
    const askedAt = performance.now();
    const ok = await fetch(`${url}/health/live`).then(
      async (response) => (await response.text()) !== '' && response.ok,
      () => false,
    );
    longestMs = Math.max(longestMs, performance.now() - askedAt);
    if (!ok) failures += 1;
  };
  const watch = async () => {
    for (; watching; await delay(20)) await ask();
  };
  const watched = watch();
  return {
    /** Asks once more; how long the slowest answer took, in milliseconds, and how many were not 200. */
    async seen() {
      await ask();
      return { longestMs, failures };
    },
    async [Symbol.asyncDispose]() {
      watching = false;
      await watched;
    },
  };
};
