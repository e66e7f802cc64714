import { createStore } from './store.ts';

/** What an answer says that it cost: the gateway's `extensions.upstream`. */
export type Cost = {
  /** Requests to the service that it caused. */
  readonly requests: number;
  readonly computeUnits: number;
  /** Pages that the gateway had already. */
  readonly cached: number;
  /** Those of them that stayed fresh because the wallet is watched. */
  readonly watched?: number;
};

export type LedgerEntry = {
  readonly id: number;
  readonly name: string;
  readonly text: string;
  readonly variables: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  readonly cost: Cost;
  readonly failed: boolean;
};

type Ledger = {
  /** The newest first, at most 200. */
  readonly entries: readonly LedgerEntry[];
  /** The sums of the visit, also of entries that are gone. */
  readonly answers: number;
  readonly requests: number;
  readonly computeUnits: number;
  readonly cached: number;
};

const MAX_ENTRIES = 200;

const EMPTY: Ledger = { entries: [], answers: 0, requests: 0, computeUnits: 0, cached: 0 };

export const ledger = createStore(EMPTY);

/** Forgets what has been asked, also its variables. */
export const clearLedger = (): void => ledger.set(EMPTY);

export const record = (entry: Omit<LedgerEntry, 'id'>): void => {
  const { entries, answers, requests, computeUnits, cached } = ledger.get();
  ledger.set({
    entries: [{ ...entry, id: answers }, ...entries].slice(0, MAX_ENTRIES),
    answers: answers + 1,
    requests: requests + entry.cost.requests,
    computeUnits: computeUnits + entry.cost.computeUnits,
    cached: cached + entry.cost.cached,
  });
};
