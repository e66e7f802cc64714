import type { Clock } from './chain.ts';
import type { Fault } from './errors.ts';
import type { Limits, Refusal } from './limits.ts';

/** Requests to an explorer that work at a time. More of them would only make each slower. */
const CONCURRENCY = 4;

/** Whose turn a request is in, and how long it can wait. */
type Turn = {
  readonly client: string;
  readonly credits: number;
  /** When nobody waits for it any more, in milliseconds since 1970. It may become later. */
  readonly endsAt: () => number;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
};

/** The requests to an explorer that wait for their turn. */
export type Queue = {
  /**
   * Runs the task when it is its turn: clients take turns, and each client's own requests come in their order. Rejects with what
   * `toError` makes of why its turn does not come in time, or with the reason of its signal.
   */
  run<Result>(turn: Turn, toError: (fault: Fault) => Error, task: () => Promise<Result>): Promise<Result>;
  /** Those that wait, and those that are under way. */
  counts(): { readonly waiting: number; readonly running: number };
};

type Waiter = Turn & {
  readonly start: () => void;
  readonly refuse: (fault: Fault) => void;
};

export const createQueue = (limits: Limits, clock: Clock): Queue => {
  /** By client, in the order of their turns. */
  const waiting = new Map<string, Waiter[]>();
  let running = 0;
  let isFilling = false;
  let mayFillMore = false;
  let stopWaiting = () => {};

  const next = (): Waiter | undefined => waiting.values().next().value?.[0];

  const leave = (waiter: Waiter): void => {
    const own = waiting.get(waiter.client) ?? [];
    const at = own.indexOf(waiter);
    if (at !== -1) own.splice(at, 1);
    if (own.length === 0) waiting.delete(waiter.client);
  };

  /** Takes the waiter out, and puts its client's other ones behind those of all other clients. */
  const begin = (waiter: Waiter): void => {
    leave(waiter);
    const others = waiting.get(waiter.client);
    if (others !== undefined) {
      waiting.delete(waiter.client);
      waiting.set(waiter.client, others);
    }
    running += 1;
    waiter.start();
  };

  const refuse = ({ until, fault }: Refusal): void => {
    const all = [...waiting.values()].flat();
    if (fault !== null) for (const waiter of all) if (waiter.endsAt() <= until) waiter.refuse(fault);
    stopWaiting();
    stopWaiting = waiting.size === 0 ? () => {} : clock.after(Math.max(1, until - clock.now()), fill);
  };

  const fillNow = async (): Promise<void> => {
    for (let first = next(); first !== undefined && running < CONCURRENCY; first = next()) {
      const refusal = await limits.take(first.credits);
      if (refusal !== null) return refuse(refusal);
      // Another one may be the first by now, or none.
      const taker = next();
      if (taker === undefined) limits.unanswered(first.credits);
      else begin(taker);
    }
  };

  const fill = (): void => {
    mayFillMore = true;
    if (isFilling) return;
    isFilling = true;
    void (async () => {
      while (mayFillMore) {
        mayFillMore = false;
        await fillNow();
      }
      isFilling = false;
    })();
  };

  const waitForTurn = (turn: Turn, toError: (fault: Fault) => Error): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (then: () => void) => () => {
        turn.signal.removeEventListener('abort', abort);
        then();
      };
      const waiter: Waiter = {
        ...turn,
        start: end(resolve),
        refuse: (fault) => {
          leave(waiter);
          end(() => reject(toError(fault)))();
        },
      };
      const abort = end(() => {
        leave(waiter);
        reject(turn.signal.reason);
      });
      if (turn.signal.aborted) return abort();
      turn.signal.addEventListener('abort', abort);
      const own = waiting.get(turn.client);
      if (own === undefined) waiting.set(turn.client, [waiter]);
      else own.push(waiter);
      fill();
    });

  return {
    async run(turn, toError, task) {
      await waitForTurn(turn, toError);
      try {
        return await task();
      } finally {
        running -= 1;
        fill();
      }
    },
    counts: () => ({ waiting: [...waiting.values()].flat().length, running }),
  };
};
