import type { Operation } from '../__generated__/operations.ts';
import { settings } from '../settings.ts';
import { credentialHeaders, credentials, signOut } from '../state/credentials.ts';
import { type Cost, record } from '../state/ledger.ts';
import { offline, type Problem, problemOf } from './problems.ts';

export type Answer<Data> = {
  /** Null when nothing could be answered. A part of it may be null beside a problem. */
  readonly data: Data | null;
  readonly problems: readonly Problem[];
};

type Body<Data> = {
  readonly data?: Data | null;
  readonly errors?: readonly Parameters<typeof problemOf>[0][];
  readonly extensions?: { readonly upstream?: Cost };
};

const NO_COST: Cost = { requests: 0, computeUnits: 0, cached: 0 };

const isBody = (value: unknown): value is Body<never> =>
  typeof value === 'object' && value !== null && ('data' in value || 'errors' in value);

const post = async (body: string, signal: AbortSignal | undefined): Promise<Body<never> | Problem> => {
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
    if (isBody(answer)) return answer;
  } catch (error) {
    if (signal?.aborted) throw error;
    if (status === 0) return offline();
  }
  const message = `Expected the gateway’s JSON, got something else with status ${status}.`;
  return { code: 'NOT_JSON', message, path: [], retryAfterMs: null };
};

/**
 * Sends an operation to the gateway, and records what it cost. Failures are problems of the answer: it rejects only when
 * `signal` aborts it.
 */
export const send = async <Data, Variables>(
  { name, hash, text }: Operation<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Answer<Data>> => {
  const caller = credentials.get();
  const at = Date.now();
  const since = performance.now();
  const named = settings.trustedDocuments ? { documentId: hash } : { query: text };
  const body = await post(JSON.stringify({ ...named, variables }), signal);
  const answer: Answer<Data> =
    'code' in body
      ? { data: null, problems: [body] }
      : { data: body.data ?? null, problems: (body.errors ?? []).map(problemOf) };
  const cost = ('extensions' in body && body.extensions?.upstream) || NO_COST;
  const durationMs = performance.now() - since;
  // What was asked by the caller before is no business of the present one.
  if (credentials.get() !== caller) return answer;
  record({ name, text, variables, at, durationMs, cost, failed: answer.problems.length > 0 });
  const refused = answer.problems.find(({ code }) => code === 'UNAUTHENTICATED');
  if (refused) signOut(refused.message);
  return answer;
};
