import type { Clock, Lookup } from './chain.ts';

/** A request that is under way, for all lookups that want the same. */
export type Flight = {
  /** Aborts once the last waiting lookup has given up. */
  readonly signal: AbortSignal;
  /** When the last lookup stops waiting for it, in milliseconds since 1970. */
  readonly endsAt: () => number;
  /** Whether only background lookups wait for it. */
  readonly isBackground: () => boolean;
};

/** Equal requests at a time are one (single-flight). */
export type Flights<Result> = {
  /**
   * Resolves with the result of the flight of this key, which `start` begins unless there is one. Rejects with what it rejects
   * with, or when the lookup can't wait any longer: with `onTimeout()`, or the reason of its signal.
   */
  share(
    key: string,
    lookup: Lookup,
    start: (flight: Flight) => Promise<Result>,
    onTimeout: () => Error,
  ): Promise<Result>;
};

type Shared<Result> = {
  readonly result: Promise<Result>;
  readonly controller: AbortController;
  readonly waiters: { count: number; endsAt: number; isBackground: boolean };
};

export const createFlights = <Result>(clock: Clock): Flights<Result> => {
  const flights = new Map<string, Shared<Result>>();

  const begin = (
    key: string,
    { background }: Lookup,
    start: (flight: Flight) => Promise<Result>,
  ): Shared<Result> => {
    const controller = new AbortController();
    const waiters = { count: 0, endsAt: 0, isBackground: background !== undefined };
    const result = start({
      signal: controller.signal,
      endsAt: () => waiters.endsAt,
      isBackground: () => waiters.isBackground,
    });
    const flight = { controller, waiters, result };
    flights.set(key, flight);
    return flight;
  };

  const join = (
    key: string,
    flight: Shared<Result>,
    lookup: Lookup,
    onTimeout: () => Error,
  ): Promise<Result> =>
    new Promise((resolve, reject) => {
      const { waiters } = flight;
      const { signal, endsAt } = lookup;
      let isWaiting = true;
      waiters.count += 1;
      waiters.endsAt = Math.max(waiters.endsAt, endsAt);
      waiters.isBackground &&= lookup.background !== undefined;
      const leave = (then: () => void): void => {
        if (!isWaiting) return;
        isWaiting = false;
        stopTimer();
        signal?.removeEventListener('abort', abort);
        waiters.count -= 1;
        if (waiters.count === 0) {
          if (flights.get(key) === flight) flights.delete(key);
          flight.controller.abort();
        }
        then();
      };
      const abort = (): void => leave(() => reject(signal?.reason));
      const stopTimer = clock.after(endsAt - clock.now(), () => leave(() => reject(onTimeout())));
      signal?.addEventListener('abort', abort);
      flight.result.then(
        (result) => leave(() => resolve(result)),
        (problem: unknown) => leave(() => reject(problem)),
      );
    });

  return {
    async share(key, lookup, start, onTimeout) {
      lookup.signal?.throwIfAborted();
      if (lookup.endsAt <= clock.now()) throw onTimeout();
      return join(key, flights.get(key) ?? begin(key, lookup, start), lookup, onTimeout);
    },
  };
};
