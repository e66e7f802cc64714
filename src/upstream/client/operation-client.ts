import type { Clock } from '../../lib/clock.ts';
import { createDeadline, type Deadline } from '../../lib/deadline.ts';
import type { Trace } from '../../lib/trace-context.ts';
import type { UpstreamClient } from './client.ts';
import { costLimitExceeded } from './errors.ts';
import type { UpstreamAnswer, UpstreamRequest } from './send-request.ts';
import type { Usage } from './usage.ts';

/** The service as one operation sees it: it pays for what it asks, and all that it asks shares its deadline. */
export type OperationClient = {
  /** The operation's time runs from here on, also where it waits for its turn before it asks. */
  begin(): void;
  /** `signal`: when to give up, for a request that others may come to wait for too; default: with the operation. */
  request(request: Omit<UpstreamRequest, 'trace'>, signal?: AbortSignal): Promise<UpstreamAnswer>;
};

type Limits = {
  /** What the operation may cost at most: what no estimate foresaw, such as a long search, ends here. */
  readonly maxComputeUnits: number;
  /** Milliseconds for a request that others may come to wait for too: each of them leaves when its own time is up. */
  readonly operationMs: number;
  readonly now: Clock;
};

export const createOperationClient = (
  client: UpstreamClient,
  usage: Usage,
  deadline: Deadline,
  trace: Trace,
  { maxComputeUnits, operationMs, now }: Limits,
): OperationClient => ({
  begin: () => void deadline.remainingMs(),
  async request(request, signal) {
    if (request.cost > 0 && usage.computeUnits + request.cost > maxComputeUnits)
      throw costLimitExceeded(maxComputeUnits);
    return client.request(
      { ...request, trace },
      usage,
      signal ? createDeadline(operationMs, signal, now) : deadline,
    );
  },
});
