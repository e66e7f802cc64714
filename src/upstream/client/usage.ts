/** What one operation cost: it stands in every response as `extensions.upstream`. */
export type Usage = {
  /** Upstream requests that the operation started, those that were tried again included. */
  requests: number;
  /** Compute units of those requests; of one under way, what it costs by the contract. */
  computeUnits: number;
  /** Pages that it had without starting a request: kept ones, and those that another operation had in flight. */
  cached: number;
};

export const createUsage = (): Usage => ({ requests: 0, computeUnits: 0, cached: 0 });

type Reservation = {
  /** What it did cost in the end. */
  settle(computeUnits: number): void;
  /** Nothing was sent. */
  release(): void;
};

/** Counts a request before it is sent: an operation that only started one may be answered before the service does. */
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
