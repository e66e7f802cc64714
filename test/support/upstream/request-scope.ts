import { createDeadline } from '../../../src/lib/deadlines.ts';
import type { RequestScope } from '../../../src/upstream/client/request.ts';
import { Usage } from '../../../src/upstream/client/request.ts';

/** The scope of an operation that calls the upstream client directly. */
export const requestScope = (usage: Usage = new Usage()): RequestScope => ({
  credential: { key: 'k', owner: 'gateway' },
  deadline: createDeadline(60_000, () => null),
  usage,
  maxComputeUnits: 100,
  trace: { requestId: 'r', traceparent: null },
});
