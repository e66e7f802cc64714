import type { UpstreamClient } from './client.ts';

/** What one operation cost: it stands in every response as `extensions.upstream`. */
export type Meter = {
  /** Upstream requests that the operation started. */
  requests: number;
  /** Compute units of those requests. */
  computeUnits: number;
  /** Pages that it had without starting a request: kept ones, and those that another operation had in flight. */
  cached: number;
};

export const createMeter = (): Meter => ({ requests: 0, computeUnits: 0, cached: 0 });

/** The same client, every request counted on `meter`. */
export const metered = (client: UpstreamClient, meter: Meter): Pick<UpstreamClient, 'request'> => ({
  async request(request) {
    meter.requests += 1;
    const answer = await client.request(request);
    meter.computeUnits += answer.computeUnits;
    return answer;
  },
});
