type Options = {
  /** How long it waits for more changes before it refetches, in milliseconds. 300 by default. */
  readonly waitMs?: number;
  /** The shortest time between the beginnings of two refetches, in milliseconds. 5,000 by default. */
  readonly everyMs?: number;
  /** Called with what a refetch was rejected with. The next change refetches again. */
  readonly failed?: (reason: unknown) => void;
};

type Refetching<Key> = {
  /** Says that these have changed, such as the addresses of wallets. */
  changed(...keys: readonly Key[]): void;
  /** Ends it: the signal of a refetch that is running is aborted, and no other begins. */
  close(): void;
};

/**
 * Refetches what events have changed, once for all changes of a while. One refetch runs at a time, so an older answer never
 * replaces a newer one: what changes meanwhile is refetched afterwards.
 *
 * `refetch` gets what has changed since the last time, each key once, and resolves when its answer is shown.
 */
export const createRefetching = <Key>(
  refetch: (keys: readonly Key[], signal: AbortSignal) => Promise<unknown>,
  { waitMs = 300, everyMs = 5000, failed = () => {} }: Options = {},
): Refetching<Key> => {
  const abort = new AbortController();
  let keys = new Set<Key>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let earliest = 0;

  const run = async (): Promise<void> => {
    timer = undefined;
    earliest = Date.now() + everyMs;
    const changed = [...keys];
    keys = new Set();
    isRunning = true;
    try {
      await refetch(changed, abort.signal);
    } catch (reason) {
      if (!abort.signal.aborted) failed(reason);
    }
    isRunning = false;
    if (keys.size > 0) plan();
  };

  const plan = (): void => {
    if (timer !== undefined || isRunning || abort.signal.aborted) return;
    timer = setTimeout(run, Math.max(waitMs, earliest - Date.now()));
  };

  return {
    changed(...added) {
      for (const key of added) keys.add(key);
      if (added.length > 0) plan();
    },
    close() {
      abort.abort();
      clearTimeout(timer);
    },
  };
};
