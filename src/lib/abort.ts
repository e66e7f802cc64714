/**
 * Calls `then` once when `signal` aborts, or soon if it has aborted already. The returned function removes the listener:
 * after it, `then` is not called any more. A null signal never aborts.
 */
export const onAbort = (signal: AbortSignal | null, then: () => void): (() => void) => {
  if (signal === null) return () => {};
  let isListening = true;
  const call = () => {
    if (isListening) then();
  };
  if (signal.aborted) queueMicrotask(call);
  else signal.addEventListener('abort', call, { once: true });
  return () => {
    isListening = false;
    signal.removeEventListener('abort', call);
  };
};

/** How a wait ended: the promise resolved or rejected, the time was over, or the signal aborted. */
export type WaitEnd = 'settled' | 'timeout' | 'aborted';

/**
 * Resolves with what comes first: `promise` settles, `ms` milliseconds pass, or `signal` aborts. It never rejects: after
 * `settled` the caller awaits the promise itself. Neither timer nor listener outlives the wait.
 */
export const raceWithTimeout = (
  promise: Promise<unknown>,
  ms: number,
  signal: AbortSignal | null,
): Promise<WaitEnd> =>
  new Promise((resolve) => {
    const end = (how: WaitEnd) => () => {
      clearTimeout(timer);
      stopListening();
      resolve(how);
    };
    const timer = setTimeout(end('timeout'), ms);
    const stopListening = onAbort(signal, end('aborted'));
    promise.then(end('settled'), end('settled'));
  });

/** Resolves after `ms` milliseconds, or when `signal` aborts. */
export const sleep = async (ms: number, signal: AbortSignal | null): Promise<void> => {
  await raceWithTimeout(new Promise(() => {}), ms, signal);
};
