/**
 * Calls `then` once when `signal` aborts; soon, when it has aborted already. The returned function takes that back: after
 * it, `then` is not called any more. A null signal never aborts.
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

/** Resolves after `ms` milliseconds, or when `signal` aborts. */
export const sleep = (ms: number, signal: AbortSignal | null): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stopListening();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stopListening = onAbort(signal, done);
  });
