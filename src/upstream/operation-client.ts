import type { UpstreamClient } from './client.ts';
import type { UpstreamAnswer, UpstreamRequest } from './exchange.ts';
import type { Meter } from './meter.ts';
import type { Patience } from './patience.ts';

/** The service as one operation sees it: it pays for what it asks, and all that it asks shares its patience. */
export type OperationClient = {
  /** `signal`: when to give up, for a request that others may come to wait for too; default: with the operation. */
  request(request: UpstreamRequest, signal?: AbortSignal): Promise<UpstreamAnswer>;
};

export const createOperationClient = (
  client: UpstreamClient,
  meter: Meter,
  patience: Patience,
): OperationClient => ({
  request: (request, signal) => client.request(request, meter, signal ? { ...patience, signal } : patience),
});
