import { useSyncExternalStore } from 'react';

/** What answers have cost: `extensions.upstream` of each, added up since the page was opened. */
export type Cost = {
  /** Requests that the gateway sent to the service. */
  readonly requests: number;
  /** What the service bills for them. */
  readonly computeUnits: number;
  /** Pages that the gateway had already. */
  readonly cached: number;
};

let total: Cost = { requests: 0, computeUnits: 0, cached: 0 };
const listeners = new Set<() => void>();

export const addCost = (cost: Cost | undefined): void => {
  if (cost === undefined) return;
  total = {
    requests: total.requests + cost.requests,
    computeUnits: total.computeUnits + cost.computeUnits,
    cached: total.cached + cost.cached,
  };
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

export const useCost = (): Cost => useSyncExternalStore(subscribe, () => total);
