import type { Clock } from './chain.ts';
import type { Fault } from './errors.ts';
import type { Limits, Refusal } from './limits.ts';

/** Requests for a chain that work at a time. More of them would only make each slower. */
const CONCURRENCY = 4;
/** Those of one client. A wallet that takes its explorer long leaves others room. */
const CONCURRENCY_OF_CLIENT = 3;

/** Whose turn a request is in, and how long it can wait. */
type Turn = {
  readonly client: string;
  readonly subject: string;
  /** What is slow by itself: one chain of the hosted API leaves the others room. */
  readonly chainId: number;
  readonly credits: number;
  /** Its deadline, in milliseconds since 1970. Another lookup that joins may extend it. */
  readonly endsAt: () => number;
  /** Whether it yields to requests that a client waits for. It stops doing so when a client joins it. */
  readonly isBackground: () => boolean;
  /** Aborts once the last waiting lookup has given up. */
  readonly signal: AbortSignal;
};

/** The requests to an explorer that wait for their turn. */
export type Queue = {
  /**
   * Runs the task when it is its turn: clients take turns, the subjects of a client do, and the requests of one subject come in
   * their order. Rejects with what
   * `toError` makes of why its turn does not come in time, or with the reason of its signal.
   */
  run<Result>(turn: Turn, toError: (fault: Fault) => Error, task: () => Promise<Result>): Promise<Result>;
  /** Those that wait, and those that are under way. */
  counts(): { readonly waiting: number; readonly running: number };
};

type Waiter = Turn & {
  readonly turn: Turn;
  readonly start: () => void;
  readonly refuse: (fault: Fault) => void;
};

export const createQueue = (limits: Limits, clock: Clock): Queue => {
  /** By client, in the order of their turns. */
  const waiting = new Map<string, Waiter[]>();
  const running: Turn[] = [];
  let isFilling = false;
  let mayFillMore = false;
  let stopWaiting = () => {};

  const hasRoom = ({ client, chainId }: Turn): boolean => {
    const ofChain = running.filter((turn) => turn.chainId === chainId);
    const ofClient = ofChain.filter((turn) => turn.client === client);
    return ofChain.length < CONCURRENCY && ofClient.length < CONCURRENCY_OF_CLIENT;
  };

  /** The first that may start: of those in the background only where no other one may. */
  const next = (): Waiter | undefined => {
    let background: Waiter | undefined;
    for (const own of waiting.values())
      for (const waiter of own) {
        if (!hasRoom(waiter)) continue;
        if (!waiter.isBackground()) return waiter;
        background ??= waiter;
      }
    return background;
  };

  const leave = (waiter: Waiter): void => {
    const own = waiting.get(waiter.client) ?? [];
    const at = own.indexOf(waiter);
    if (at !== -1) own.splice(at, 1);
    if (own.length === 0) waiting.delete(waiter.client);
  };

  /** Takes the waiter out, and puts its client behind all other ones, and its subject behind the others of its client. */
  const begin = (waiter: Waiter): void => {
    leave(waiter);
    const others = waiting.get(waiter.client);
    if (others !== undefined) {
      waiting.delete(waiter.client);
      const isSame = ({ subject }: Waiter): boolean => subject === waiter.subject;
      const [same, different] = [others.filter(isSame), others.filter((other) => !isSame(other))];
      waiting.set(waiter.client, [...different, ...same]);
    }
    running.push(waiter.turn);
    waiter.start();
  };

  const refuse = ({ until, fault }: Refusal): void => {
    const all = [...waiting.values()].flat();
    if (fault !== null) for (const waiter of all) if (waiter.endsAt() <= until) waiter.refuse(fault);
    stopWaiting();
    stopWaiting = waiting.size === 0 ? () => {} : clock.after(Math.max(1, until - clock.now()), fill);
  };

  const fillNow = async (): Promise<void> => {
    for (let first = next(); first !== undefined; first = next()) {
      const refusal = await limits.take(first.credits);
      if (refusal !== null) return refuse(refusal);
      // It may have left meanwhile.
      if (waiting.get(first.client)?.includes(first)) begin(first);
      else limits.unanswered(first.credits);
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
        ...{ ...turn, turn },
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
        running.splice(running.indexOf(turn), 1);
        fill();
      }
    },
    counts: () => ({ waiting: [...waiting.values()].flat().length, running: running.length }),
  };
};
