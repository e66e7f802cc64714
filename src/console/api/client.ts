import type { Operation } from '../__generated__/operations.ts';
import { isRecord } from '../format.ts';
import { settings } from '../settings.ts';
import { type Cost, credentialHeaders, credentials, record, signOut } from '../state.ts';
import { PROBE_MS, probe, reachable } from './reachable.ts';

export type Answer<Data> = {
  /** Null if nothing could be answered. Parts of it may be null, with a problem for each. */
  readonly data: Data | null;
  readonly problems: readonly Problem[];
};

type Body = {
  readonly data?: never;
  readonly errors?: readonly WireError[];
  readonly extensions?: { readonly upstream?: Cost };
};

const isBody = (value: unknown): value is Body => isRecord(value) && ('data' in value || 'errors' in value);

const NO_COST: Cost = { requests: 0, computeUnits: 0, cached: 0 };

const failed = (problem: Problem) => ({ data: null, problems: [problem], cost: NO_COST });

const post = async (body: string, signal: AbortSignal | undefined) => {
  const headers = {
    accept: 'application/graphql-response+json',
    'content-type': 'application/json',
    ...credentialHeaders(),
  };
  let status = 0;
  try {
    const response = await fetch('/graphql', { method: 'POST', headers, body, signal: signal ?? null });
    status = response.status;
    const answer: unknown = await response.json();
    if (isBody(answer)) {
      const { data = null, errors = [], extensions } = answer;
      const cost = extensions?.upstream ?? NO_COST;
      return { data, problems: errors.map((error) => problemOf(error, cost.budget?.perMinute)), cost };
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    if (status === 0) {
      reachable.set(false);
      setTimeout(probe, PROBE_MS);
      return failed(OFFLINE);
    }
  }
  return failed(
    problemHere('NOT_JSON', `Expected the gateway’s JSON, got something else with status ${status}.`),
  );
};

/**
 * Sends an operation to the gateway, and records what it cost, unless it is one of many that cost nothing. Failures are
 * problems of the answer: it rejects only when `signal` aborts it.
 */
export const send = async <Data, Variables>(
  { name, hash, text }: Operation<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
  isRecorded = true,
): Promise<Answer<Data>> => {
  const caller = credentials.get();
  const at = Date.now();
  const since = performance.now();
  const named = settings.trustedDocuments ? { documentId: hash } : { query: text };
  const { cost, ...answer } = await post(JSON.stringify({ ...named, variables }), signal);
  const durationMs = performance.now() - since;
  // The previous caller's answers are not for the present one.
  if (credentials.get() !== caller) return answer;
  if (isRecorded) record({ name, text, variables, at, durationMs, cost, failed: answer.problems.length > 0 });
  const refused = answer.problems.find(({ code }) => code === 'UNAUTHENTICATED');
  if (refused) signOut(refused.message);
  return answer;
};

export type Problem = {
  /** The gateway's code, or one of this page's own: OFFLINE, NOT_JSON and CLOSED. */
  readonly code: string;
  readonly message: string;
  /** Of what costs more than is ever allowed, whenever it is asked: both in compute units. */
  readonly tooDear: { readonly costs: number; readonly most: number } | null;
};

/** A problem that this page has found itself. */
export const problemHere = (code: string, message: string): Problem => ({ code, message, tooDear: null });

const TITLES: Readonly<Record<string, string>> = {
  OFFLINE: 'The gateway does not answer',
  NOT_JSON: 'Something other than the gateway answered',
  CLOSED: 'The gateway has closed the connection',
  BAD_USER_INPUT: 'The gateway can’t read this input',
  INVALID_CURSOR: 'This page can’t be continued',
  CURSOR_EXPIRED: 'Events are missing here',
  UNAUTHENTICATED: 'The gateway needs other credentials',
  FORBIDDEN: 'These credentials do not allow it',
  NOT_FOUND: 'The service has nothing here',
  QUOTA_EXCEEDED: 'The key’s quota is used up',
  RATE_LIMITED: 'Too many requests at once',
  COMPUTE_BUDGET_EXCEEDED: 'The budget of this minute is used up',
  OPERATION_TOO_COMPLEX: 'That is too much at once',
  UPSTREAM_REJECTED: 'The service refused the request',
  UPSTREAM_UNAVAILABLE: 'The service can’t be reached',
  UPSTREAM_TIMEOUT: 'The service took too long',
  UPSTREAM_INVALID_RESPONSE: 'The service answered with something unexpected',
  LOG_UNAVAILABLE: 'The log of deliveries can’t be read',
};

/** A short title. The problem's own message has the details. */
export const titleOf = ({ code, tooDear }: Problem): string =>
  tooDear ? 'That costs more than is ever allowed' : (TITLES[code] ?? 'Something went wrong');

const TRANSIENT =
  /^(?:OFFLINE|RATE_LIMITED|COMPUTE_BUDGET_EXCEEDED|LOG_UNAVAILABLE|UPSTREAM_(?:UNAVAILABLE|TIMEOUT))$/;

/** Whether the same operation may succeed later. */
export const isTransient = ({ code, tooDear }: Problem): boolean => tooDear === null && TRANSIENT.test(code);

const OFFLINE = problemHere(
  'OFFLINE',
  'It is not running, or the network is down. What is on this page stays.',
);

/** Why a connection was not reopened: its close event, or an error. */
export const closed = (reason: unknown): Problem => {
  const message =
    reason instanceof CloseEvent
      ? `With ${reason.code}: ${reason.reason || 'no reason is given'}.`
      : String(reason);
  return problemHere('CLOSED', message);
};

export type WireError = {
  readonly message?: unknown;
  readonly extensions?: Readonly<Record<string, unknown>>;
};

/** A GraphQL error as the gateway writes it. `perMinute` is the client's budget, where it has one. */
export const problemOf = ({ message, extensions = {} }: WireError, perMinute?: number): Problem => {
  const { code, estimatedComputeUnits: costs, allowedComputeUnits: allowed } = extensions;
  const most = code === 'COMPUTE_BUDGET_EXCEEDED' ? perMinute : allowed;
  const isNever = typeof costs === 'number' && typeof most === 'number' && costs > most;
  return {
    code: typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR',
    message: String(message),
    tooDear: isNever ? { costs, most } : null,
  };
};
