import { z } from 'zod';
import type { Fault } from './errors.ts';
import type { ListOperation } from './operations.ts';

/** What an explorer answered over HTTP. */
export type Answer = {
  readonly status: number;
  /** A header; undefined where it is missing. */
  readonly header: (name: string) => string | undefined;
  readonly text: string;
};

/** How a request was sent, as far as it decides what an error means. */
export type Sent = {
  readonly isHosted: boolean;
  /** Whether a key was sent. */
  readonly hasKey: boolean;
  /** The names of its parameters. */
  readonly parameters: readonly string[];
  readonly style: ListOperation<unknown, unknown>['style'];
  /** When it was answered, in milliseconds since 1970. */
  readonly now: number;
};

/** The bodies of errors: of the hosted API, of an instance, and of one that names what it rejects. */
const problem = z.object({
  error: z.string().optional().catch(undefined),
  source: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  errors: z
    .array(z.object({ source: z.object({ pointer: z.string() }) }))
    .optional()
    .catch(undefined),
});

type Problem = z.output<typeof problem>;

const OUT_OF_CREDITS = /out of credits/i;
const NOT_FOUND = /not found/i;
/** Not the thing that was asked for is missing, but where it would be. */
const NO_ROUTE = /page|route|endpoint|path|method/i;
const TOO_MANY = /too many requests|rate limit/i;

/** The body of a success, or what is wrong with the answer. */
export const readAnswer = (
  answer: Answer,
  sent: Sent,
): { readonly body: unknown } | { readonly fault: Fault } => {
  const body = parseJson(answer.text);
  if (answer.status !== 200) return { fault: faultOf(answer, body, sent) };
  if (body === undefined) return { fault: { kind: 'malformed', where: 'the body' } };
  const fault = sent.style === 'etherscan' ? etherscanFault(body, sent) : null;
  return fault === null ? { body } : { fault };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const faultOf = ({ status }: Answer, body: unknown, sent: Sent): Fault => {
  const said = problem.safeParse(body).data ?? null;
  if (status >= 300 && status < 400) return { kind: 'redirected' };
  if (status === 401) return { kind: 'badKey' };
  if (status === 402)
    return sent.hasKey || OUT_OF_CREDITS.test(said?.error ?? '')
      ? { kind: 'outOfCredits', until: nextMidnight(sent.now) }
      : { kind: 'noKey' };
  if (status === 403) return { kind: said?.message === undefined ? 'blocked' : 'restricted' };
  if (status === 404) return missing(said, sent);
  if (status === 429) return { kind: 'rateLimited', until: sent.now };
  if (status >= 400 && status < 500)
    return { kind: 'rejected', status, parameters: rejectedParameters(said, sent) };
  if (status >= 500)
    return { kind: 'failed', status, isInstance: sent.isHosted && said?.source === 'upstream' };
  return { kind: 'malformed', where: `status ${status}` };
};

/** A 404 says that there is no such thing only where the explorer itself says so. A server at a wrong address has one for all. */
const missing = (said: Problem | null, { isHosted }: Sent): Fault => {
  const isItsOwn = said?.source === 'internal' || (said?.error !== undefined && said.source === undefined);
  if (isHosted && isItsOwn) return { kind: 'notHosted' };
  const message = said?.message ?? (isHosted ? said?.error : null) ?? '';
  if (NOT_FOUND.test(message) && !NO_ROUTE.test(message)) return { kind: 'notFound' };
  return { kind: 'malformed', where: 'status 404' };
};

/** Only our own words: the explorer's may repeat anything. */
const rejectedParameters = (said: Problem | null, { parameters }: Sent): readonly string[] => {
  const named = (said?.errors ?? []).map(({ source }) => source.pointer.replace(/^\//, ''));
  return parameters.filter((parameter) => named.includes(parameter));
};

const etherscanBody = z.object({ status: z.string(), message: z.string(), result: z.unknown() });

/** The route in the style of Etherscan says in the body of a 200 that it failed. An empty list is a failure there by its status. */
const etherscanFault = (body: unknown, { now }: Sent): Fault | null => {
  const { success, data } = etherscanBody.safeParse(body);
  if (!success) return { kind: 'malformed', where: 'the body' };
  const { status, message, result } = data;
  if (status === '1' && Array.isArray(result)) return null;
  if (status === '0' && Array.isArray(result) && result.length === 0 && /^no .*found$/i.test(message))
    return null;
  const says = typeof result === 'string' ? `${message} ${result}` : message;
  if (TOO_MANY.test(says)) return { kind: 'rateLimited', until: now };
  return status === '0'
    ? { kind: 'failed', status: 200, isInstance: false }
    : { kind: 'malformed', where: 'status' };
};

const DAY_MS = 86_400_000;
/** Clocks differ: who asks just before midnight would be refused for another day. */
const GRACE_MS = 60_000;

/** When the hosted API has surely counted credits anew: a minute after the next midnight of UTC. */
export const nextMidnight = (now: number): number =>
  (Math.floor((now - GRACE_MS) / DAY_MS) + 1) * DAY_MS + GRACE_MS;
