import { randomUUID } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { createDeadline } from '../lib/deadline.ts';
import type { Credential, RequestScope } from '../upstream/client/request-scope.ts';
import { Usage } from '../upstream/client/usage.ts';

/** The scope of free requests that the gateway makes for itself, outside of any operation. */
export const createBackgroundScope = (
  credential: Credential,
  timeoutMs: number,
  now: Clock,
): RequestScope => ({
  credential,
  deadline: createDeadline(timeoutMs, () => null, now),
  usage: new Usage(),
  maxComputeUnits: 0,
  trace: { requestId: randomUUID(), traceparent: null },
});
