import type { Deadline } from '../../lib/deadline.ts';
import type { Trace } from '../../lib/trace-context.ts';
import type { Usage } from './usage.ts';

/** The upstream API key of an operation. It is never logged and never part of an error. */
export type Credential = { readonly key: string; readonly owner: 'gateway' | 'client' };

/** What all upstream requests of one operation share. */
export type RequestScope = {
  readonly credential: Credential;
  readonly deadline: Deadline;
  /** What the operation has cost so far; each request adds to it. */
  readonly usage: Usage;
  /** Compute units that the operation may cost at most. An estimate does not foresee everything, such as a long search. */
  readonly maxComputeUnits: number;
  readonly trace: Trace;
};

/**
 * The scope of a request that other operations may join. Its deadline has a clock of its own, since each operation stops
 * waiting when its own time is over; `signal` aborts when no operation waits any more.
 */
export const detachedScope = (scope: RequestScope, signal: AbortSignal): RequestScope => ({
  ...scope,
  deadline: scope.deadline.detached(signal),
});
