/** What one operation cost: every response has it as `extensions.upstream`. */
export type Usage = {
  /** Upstream requests that the operation started, retries included. */
  requests: number;
  /** Compute units of those requests; for a request under way, its cost by the contract. */
  computeUnits: number;
  /** Pages that cost the operation no request: cached ones, and those that another operation was fetching. */
  cached: number;
  /** Those of the cached pages that were fresh only because no delivery had told of a change; absent for none. */
  watched?: number;
};

export const createUsage = (): Usage => ({ requests: 0, computeUnits: 0, cached: 0 });

type Reservation = {
  /** Replaces the cost by the contract with what upstream billed. */
  settle(computeUnits: number): void;
  /** Removes the request: it was not sent. */
  release(): void;
};

/** Counts a request before it is sent, because an operation may be answered while its request is still under way. */
export const reserveUsage = (usage: Usage, cost: number): Reservation => {
  usage.requests += 1;
  usage.computeUnits += cost;
  const settle = (computeUnits: number) => {
    usage.computeUnits += computeUnits - cost;
  };
  return {
    settle,
    release() {
      usage.requests -= 1;
      settle(0);
    },
  };
};
