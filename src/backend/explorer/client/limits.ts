import type { Awaitable } from '../../types.ts';
import type { Answer } from './answers.ts';
import type { Clock } from './chain.ts';
import type { Fault } from './errors.ts';
import { age, end, fail, type LimitRecord, newRecord, type Refusal, succeed, take } from './limit-record.ts';

export type { Refusal } from './limit-record.ts';

export type LimitsState = {
  /** The most requests in a second, nearly. */
  readonly perSecond: number;
  /** The credits that the hosted API says are left; null while it is not known. */
  readonly creditsLeft: number | null;
  /** Why nothing is sent now, and until when; null while requests are. */
  readonly pause: Refusal | null;
};

/**
 * What an explorer takes from all who use the same key, or the same address: requests a second, and credits. It is asked before
 * each request, and told of each answer.
 */
export type Limits = {
  /** Reserves one request and its credits. Null if it may start now, else why not. Does not reject. */
  take(credits: number): Awaitable<Refusal | null>;
  /** Tells of a request that was taken, and of its answer. */
  succeeded(credits: number, answer: Answer): void;
  /** Tells of one whose answer is a failure. Returns what its caller fails with. Does not reject. */
  failed(credits: number, answer: Answer, fault: Fault): Awaitable<Fault>;
  /** Tells of a request that was taken and not answered. */
  unanswered(credits: number): void;
  state(): LimitsState;
};

/** A change of what is known. `sharers` is how many processes make changes without knowing of each other. */
export type Change<Result> = (known: LimitRecord, now: number, sharers: number) => Result;

/** Keeps what is known of a limit. */
export type Keeper = {
  /** Does not reject. */
  change<Result>(change: Change<Result>): Awaitable<Result>;
  /** What is known, and the time by the clock of its times. */
  read(): { readonly known: LimitRecord; readonly now: number };
  /** A time of what is known, by the clock of this process. */
  localTime(time: number): number;
};

/** Keeps it in this process alone. */
const keepHere = (isHosted: boolean, { now }: Clock): Keeper => {
  const known = newRecord(isHosted);
  return {
    change: (change) => change(known, now(), 1),
    read: () => ({ known, now: now() }),
    localTime: (time) => time,
  };
};

export const createLimits = (
  isHosted: boolean,
  clock: Clock,
  { change, read, localTime }: Keeper = keepHere(isHosted, clock),
): Limits => {
  const localFault = (fault: Fault): Fault =>
    'until' in fault ? { ...fault, until: localTime(fault.until) } : fault;
  const localRefusal = (refusal: Refusal | null): Refusal | null =>
    refusal && { until: localTime(refusal.until), fault: refusal.fault && localFault(refusal.fault) };
  return {
    take: (credits) =>
      after(
        change((known, now, sharers) => take(known, credits, now, sharers)),
        localRefusal,
      ),
    succeeded(credits, answer) {
      void change((known, now) => succeed(known, { credits, answer, isHosted }, now));
    },
    failed: (credits, answer, fault) =>
      after(
        change((known, now) => fail(known, { credits, answer, isHosted }, fault, now)),
        // One that began no pause has a time of this process already, or none.
        (failure) => (failure === fault ? fault : localFault(failure)),
      ),
    unanswered(credits) {
      void change((known) => end(known, credits));
    },
    state() {
      const { known, now } = read();
      age(known, now);
      const { perSecond, credits, pause } = known;
      return { perSecond, creditsLeft: credits?.left ?? null, pause: localRefusal(pause) };
    },
  };
};

/** Runs `then` on a value at once, or on what a promise resolves to. */
const after = <Value, Result>(value: Awaitable<Value>, then: (value: Value) => Result): Awaitable<Result> =>
  value instanceof Promise ? value.then(then) : then(value as Value);
