import { z } from 'zod';
import { type Answer, nextMidnight } from './answers.ts';
import type { Fault } from './errors.ts';

/** What is known of one limit of requests, as plain data, and how it changes. Times are in milliseconds since 1970. */

/** Why a request can't start now. */
export type Refusal = {
  /** When it may. */
  readonly until: number;
  /** What it fails with if it can't wait so long; null where it is only its turn that has not come. */
  readonly fault: Fault | null;
};

const time = z.number().nonnegative();
const fault = z.union([
  z.object({ kind: z.enum(['noKey', 'badKey', 'blocked']) }),
  z.object({ kind: z.enum(['outOfCredits', 'rateLimited']), until: time }),
]);

const record = z.object({
  /** When requests began, within the last second and a bit. */
  starts: z.array(time),
  /** The most requests in a second, nearly. */
  perSecond: z.number().min(1),
  /** What the hosted API says is left, without what requests under way take; null while it is not known. */
  credits: z.object({ left: z.number(), until: time }).nullable(),
  /** Requests under way. What an answer says is left may or may not count them; `lowest` is the least of what came meanwhile. */
  underWay: z.array(z.object({ credits: time, until: time, lowest: z.number().nullable() })),
  /** When the explorer's own count of requests begins anew. */
  countedUntil: time,
  pause: z.object({ until: time, fault }).nullable(),
  /** Of the pauses after refusals: when the last one ends, and how long the next one is at least. */
  refused: z.object({ until: time, nextMs: time }),
  /** When each process that shares the record was last seen, by its id. */
  members: z.record(z.string(), time),
});

export type LimitRecord = z.output<typeof record>;

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
const MAX_PAUSE_MS = 3_600_000;
/** An explorer that says more is not believed. */
const MAX_RESET_MS = 3_600_000;
/** Longer than any request takes: one whose process has ended counts until then. */
const UNDER_WAY_MS = 60_000;
/** A process that asks for nothing for so long does not count. */
const MEMBER_MS = 3_600_000;

const firstPauseMs = (isHosted: boolean): number =>
  isHosted ? FIRST_PAUSE_MS.hosted : FIRST_PAUSE_MS.instance;

export const newRecord = (isHosted: boolean): LimitRecord => ({
  ...{
    starts: [],
    perSecond: isHosted ? HOSTED_PER_SECOND : INSTANCE_PER_SECOND,
    credits: null,
    underWay: [],
  },
  ...{ countedUntil: 0, pause: null, refused: { until: 0, nextMs: firstPauseMs(isHosted) }, members: {} },
});

/** Reads a record that another process has written; null for anything else. */
export const readRecord = (text: string): LimitRecord | null => {
  try {
    return record.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};

/** Forgets what is over. */
export const age = (known: LimitRecord, now: number): void => {
  known.starts = known.starts.filter((start) => start > now - WINDOW_MS && start < now + WINDOW_MS);
  known.underWay = known.underWay.filter(({ until }) => until > now);
  if (known.pause !== null && now >= known.pause.until) known.pause = null;
  if (known.credits !== null && now >= known.credits.until) known.credits = null;
  known.countedUntil = Math.min(known.countedUntil, now + MAX_RESET_MS);
  for (const [id, seenAt] of Object.entries(known.members))
    if (seenAt <= now - MEMBER_MS) delete known.members[id];
};

/**
 * Reserves one request and its credits. Null if it may start now. `sharers` is how many processes may do the same without
 * knowing of each other.
 */
export const take = (known: LimitRecord, credits: number, now: number, sharers: number): Refusal | null => {
  age(known, now);
  if (known.pause !== null) return known.pause;
  if (known.credits !== null && known.credits.left < credits * sharers) return outOfCredits(known, now);
  const most = Math.max(1, Math.floor(known.perSecond / sharers));
  const windowMs = Math.max(WINDOW_MS, (WINDOW_MS * most * sharers) / known.perSecond);
  const oldest = known.starts.at(-most);
  if (oldest !== undefined && oldest > now - windowMs) return { until: oldest + windowMs, fault: null };
  if (now < known.countedUntil) return { until: known.countedUntil, fault: null };
  known.starts.push(now);
  known.underWay.push({ credits, until: now + UNDER_WAY_MS, lowest: null });
  if (known.credits !== null) known.credits.left -= credits;
  return null;
};

/** Notes that a request that was taken has ended. */
export const end = (known: LimitRecord, credits: number): LimitRecord['underWay'][number] | null => {
  const at = known.underWay.findIndex((each) => each.credits === credits);
  return known.underWay.splice(at === -1 ? known.underWay.length : at, 1)[0] ?? null;
};

/** An answer to a request that was taken. */
export type Answered = {
  readonly credits: number;
  readonly answer: Answer;
  readonly isHosted: boolean;
};

/** Notes that a request has ended, and what the headers of its answer say. */
const readHeaders = (known: LimitRecord, { credits, answer, isHosted }: Answered, now: number): void => {
  age(known, now);
  const { header } = answer;
  const number = (name: string) => Number(header(name) ?? Number.NaN);
  const ended = end(known, credits);
  const said = number('x-credits-remaining');
  if (isHosted && Number.isFinite(said)) {
    // Answers may come in another order than that in which the explorer counts.
    const counted = Math.min(said, ended?.lowest ?? said);
    for (const each of known.underWay) each.lowest = Math.min(counted, each.lowest ?? counted);
    const underWay = known.underWay.reduce((sum, each) => sum + each.credits, 0);
    known.credits = { left: counted - underWay, until: nextMidnight(now) };
  }
  const limit = number('x-ratelimit-limit');
  if (isHosted && limit >= 1) known.perSecond = Math.min(MAX_PER_SECOND, Math.floor(limit));
  if (number('x-ratelimit-remaining') === 0) known.countedUntil = now + resetMs(header);
};

/** Notes a success. One within a pause began before it, and says nothing of it. */
export const succeed = (known: LimitRecord, answered: Answered, now: number): void => {
  readHeaders(known, answered, now);
  if (now >= known.refused.until) known.refused = { until: 0, nextMs: firstPauseMs(answered.isHosted) };
};

/** Notes a failure. Returns what its caller fails with. */
export const fail = (known: LimitRecord, answered: Answered, failure: Fault, now: number): Fault => {
  readHeaders(known, answered, now);
  switch (failure.kind) {
    case 'rateLimited': {
      const until = refuse(known, resetMs(answered.answer.header), now);
      return begin(known, { until, fault: { ...failure, until } });
    }
    case 'blocked':
    case 'badKey':
    case 'noKey':
      return begin(known, { until: refuse(known, LONG_PAUSE_MS, now), fault: { kind: failure.kind } });
    case 'outOfCredits':
      return outOfCredits(known, now).fault;
    default:
      return failure;
  }
};

type Pause = NonNullable<LimitRecord['pause']>;

/** Begins a pause, unless there is a longer one. */
export const begin = (known: LimitRecord, pause: Pause): Fault => {
  if (known.pause === null || known.pause.until < pause.until) known.pause = pause;
  return pause.fault;
};

const outOfCredits = (known: LimitRecord, now: number): Pause => {
  const until = nextMidnight(now);
  const pause: Pause = { until, fault: { kind: 'outOfCredits', until } };
  begin(known, pause);
  return pause;
};

/**
 * When the pause after a refusal ends: each is twice as long as the one before it, until a request succeeds. Requests that began
 * before it and are refused within it do not make it longer.
 */
const refuse = (known: LimitRecord, leastMs: number, now: number): number => {
  const { until, nextMs } = known.refused;
  if (now < until) return until;
  const lastsMs = Math.min(MAX_PAUSE_MS, Math.max(nextMs, leastMs));
  known.refused = { until: now + lastsMs, nextMs: Math.min(MAX_PAUSE_MS, lastsMs * 2) };
  return known.refused.until;
};

/** Milliseconds until the explorer counts requests anew; 0 where it does not say so. */
const resetMs = (header: Answer['header']): number => {
  const ms = Number(header('x-ratelimit-reset') ?? 0);
  return ms > 0 ? Math.min(MAX_RESET_MS, ms) : 0;
};
