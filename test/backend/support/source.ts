import { createMemoryStore } from '../../../src/backend/dispatch/memory-store.ts';
import { startService } from '../../../src/backend/server.ts';
import type { Holding, Source } from '../../../src/backend/source.ts';
import { APES, MAINNET, simulator } from '../dispatch/support/builders.ts';
import type { Json } from './sandbox.ts';

/** Resolves later, as what is asked from a node does. */
export const later = <T>(value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, 1, value));

const UNKNOWN = { trades: null, buyers: null, sellers: null, flagged: null };

export const HOLDING: Holding = {
  ...{ chain: MAINNET, contract: APES, standard: 'erc721', symbol: null, tokenId: 7n, balance: 1n },
  ...{ acquiredAt: 0, soldFor: null, place: [1] },
};

/** What a source says that knows little, and that has to be waited for. */
export const sourceOf = (source: Partial<Source> = {}): Source => ({
  ...simulator,
  operations: [],
  changes: null,
  protocols: [],
  costly: [],
  transactions: () => later({ items: [], next: null }),
  effects: () => later({ items: [], next: null }),
  transaction: () => later(null),
  revert: () => later({ message: null, data: null, decoded: null }),
  holdings: () => later({ items: [HOLDING], next: null }),
  metadata: () => later(null),
  collection: () => later({ name: null, symbol: null, launchedAt: null, reputation: UNKNOWN, uri: null }),
  balances: () => later({ items: [], next: null }),
  learnAbis: () => later([]),
  approvals: () => later({ items: [], next: null, unread: [] }),
  name: () => later(null),
  holders: () => later(null),
  pool: () => null,
  supply: () => later(null),
  search: () => later({ tokens: [] }),
  defiPositions: () => later([]),
  status: () => [],
  beginning: () => null,
  onBlock() {},
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  ...source,
});

/** The service over a source. */
export const openSource = async (source: Partial<Source> = {}) => {
  const service = await startService(sourceOf(source), {
    apiKey: 'key',
    store: createMemoryStore(Date.now),
  });
  const ask = async (path: string): Promise<{ status: number; json: Json }> => {
    const response = await fetch(`${service.url}${path}`, { headers: { 'x-service-api-key': 'key' } });
    return { status: response.status, json: (await response.json()) as Json };
  };
  return { ask, url: service.url, [Symbol.asyncDispose]: () => service.stop() };
};
