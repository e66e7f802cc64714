/** What one operation cost: it stands in every response as `extensions.upstream`. */
export type Meter = {
  /** Upstream requests that the operation started, those that were tried again included. */
  requests: number;
  /** Compute units of those requests; of one under way, what it costs by the contract. */
  computeUnits: number;
  /** Pages that it had without starting a request: kept ones, and those that another operation had in flight. */
  cached: number;
};

export const createMeter = (): Meter => ({ requests: 0, computeUnits: 0, cached: 0 });

type Bill = {
  /** What it did cost in the end. */
  settle(computeUnits: number): void;
  /** Nothing was sent. */
  cancel(): void;
};

/** Counts a request before it is sent: an operation that only started one may be answered before the service does. */
export const openBill = (meter: Meter, cost: number): Bill => {
  meter.requests += 1;
  meter.computeUnits += cost;
  const settle = (computeUnits: number) => {
    meter.computeUnits += computeUnits - cost;
  };
  return {
    settle,
    cancel() {
      meter.requests -= 1;
      settle(0);
    },
  };
};
