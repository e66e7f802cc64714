import { createAbility } from '../../ability.ts';
import type { Awaitable } from '../../types.ts';
import { type Answer, nextMidnight } from './answers.ts';
import type { Clock } from './chain.ts';
import type { Fault } from './errors.ts';

/** Why a request can't start now. */
export type Refusal = {
  /** When it may, in milliseconds since 1970. */
  readonly until: number;
  /** What it fails with if it can't wait so long; null where it is only its turn that has not come. */
  readonly fault: Fault | null;
};

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
  /** Tells of one whose answer is a failure. Returns what its caller fails with. */
  failed(credits: number, answer: Answer, fault: Fault): Fault;
  /** Tells of a request that was taken and not answered. */
  unanswered(credits: number): void;
  state(): LimitsState;
};

/** More than the second in which explorers count, as requests may take different times to arrive. */
const WINDOW_MS = 1_100;
/** Of the free plan, until answers say another one. */
const HOSTED_PER_SECOND = 5;
/** Instances document 300 requests a minute, from one address. */
const INSTANCE_PER_SECOND = 4;
const MAX_PER_SECOND = 50;

/** The hosted API counts requests by the second. Instances block for a minute and more, and longer if they are asked meanwhile. */
const FIRST_PAUSE_MS = { hosted: 1_000, instance: 60_000 };
/** Only an operator mends these. */
const LONG_PAUSE_MS = 60_000;

/** Those of one process. */
export const createLimits = (isHosted: boolean, { now }: Clock): Limits => {
  const pauses = createAbility({
    ...{ now, firstMs: isHosted ? FIRST_PAUSE_MS.hosted : FIRST_PAUSE_MS.instance },
  });
  const starts: number[] = [];
  let perSecond = isHosted ? HOSTED_PER_SECOND : INSTANCE_PER_SECOND;
  let creditsLeft: number | null = null;
  /** The credits of requests that are under way. What an answer says may or may not count them. */
  let creditsUnderWay = 0;
  /** When the explorer's own count of requests begins anew. */
  let countedUntil = 0;
  let pause: Refusal | null = null;

  const currentPause = (): Refusal | null => {
    if (pause !== null && now() >= pause.until) {
      if (pause.fault?.kind === 'outOfCredits') creditsLeft = null;
      pause = null;
    }
    return pause;
  };

  const begin = (fault: Fault, until: number): Fault => {
    const dated = 'until' in fault ? { ...fault, until } : fault;
    if (pause === null || pause.until < until) pause = { until, fault: dated };
    return dated;
  };

  const outOfCredits = (): Fault => {
    const until = nextMidnight(now());
    return begin({ kind: 'outOfCredits', until }, until);
  };

  const readHeaders = ({ header }: Answer): void => {
    const number = (name: string) => Number(header(name) ?? Number.NaN);
    const left = number('x-credits-remaining');
    if (isHosted && Number.isFinite(left)) creditsLeft = left - creditsUnderWay;
    const limit = number('x-ratelimit-limit');
    if (isHosted && limit >= 1) perSecond = Math.min(MAX_PER_SECOND, Math.floor(limit));
    if (number('x-ratelimit-remaining') === 0) countedUntil = now() + resetMs(header);
  };

  return {
    take(credits) {
      const current = currentPause();
      if (current !== null) return current;
      if (creditsLeft !== null && creditsLeft < credits) {
        const fault = outOfCredits();
        return { until: nextMidnight(now()), fault };
      }
      while (starts[0] !== undefined && starts[0] <= now() - WINDOW_MS) starts.shift();
      const [oldest] = starts;
      if (oldest !== undefined && starts.length >= perSecond)
        return { until: oldest + WINDOW_MS, fault: null };
      if (now() < countedUntil) return { until: countedUntil, fault: null };
      starts.push(now());
      creditsUnderWay += credits;
      if (creditsLeft !== null) creditsLeft -= credits;
      return null;
    },
    succeeded(credits, answer) {
      creditsUnderWay -= credits;
      readHeaders(answer);
      pauses.worked();
    },
    failed(credits, answer, fault) {
      creditsUnderWay -= credits;
      readHeaders(answer);
      switch (fault.kind) {
        case 'rateLimited':
          return begin(fault, pauses.failed(resetMs(answer.header)));
        case 'blocked':
        case 'badKey':
        case 'noKey':
          return begin(fault, pauses.failed(LONG_PAUSE_MS));
        case 'outOfCredits':
          return outOfCredits();
        default:
          return fault;
      }
    },
    unanswered(credits) {
      creditsUnderWay -= credits;
    },
    state: () => ({ perSecond, creditsLeft, pause: currentPause() }),
  };
};

/** An explorer that says more is not believed. */
const MAX_RESET_MS = 3_600_000;

/** Milliseconds until the explorer counts requests anew; 0 where it does not say so. */
const resetMs = (header: Answer['header']): number => {
  const ms = Number(header('x-ratelimit-reset') ?? 0);
  return ms > 0 ? Math.min(MAX_RESET_MS, ms) : 0;
};
