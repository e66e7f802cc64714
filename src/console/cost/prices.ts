import type { ChainsQuery, Lookup } from '../__generated__/operations.ts';
import { useChains } from '../chains.ts';
import { html } from '../components.ts';
import { counted, formatCount, isRecord } from '../format.ts';
import type { LedgerEntry } from '../state.ts';

/** What operations cost, in words: before they are sent, and after. */

type Tariff = {
  /** Compute units of a page of the service. */
  readonly computeUnits: number;
  /** The lookup whose pages are paid for each chain; null where the chains do not matter. */
  readonly perChain: Lookup | null;
};

/** What the service asks for a page, as docs/caching-and-cost.md has it, by the field that reads it. */
const TARIFFS = {
  transactions: { computeUnits: 1, perChain: null },
  activity: { computeUnits: 3, perChain: null },
  transaction: { computeUnits: 1, perChain: null },
  approvals: { computeUnits: 1, perChain: 'APPROVALS' },
  collectibles: { computeUnits: 1, perChain: 'COLLECTIBLES' },
  balances: { computeUnits: 1, perChain: 'BALANCES' },
  balance: { computeUnits: 1, perChain: null },
  name: { computeUnits: 1, perChain: null },
  defiPositions: { computeUnits: 4, perChain: 'DEFI_POSITIONS' },
  market: { computeUnits: 2, perChain: null },
  holders: { computeUnits: 2, perChain: null },
  searchTokens: { computeUnits: 2, perChain: null },
} as const satisfies Readonly<Record<string, Tariff>>;

export type Priced = keyof typeof TARIFFS;

type Chains = ChainsQuery['chains'];

type Price = {
  /** If no page is kept; null until the gateway's chains are known, where they decide. */
  readonly computeUnits: number | null;
  /** Where it comes from: `1 request × 14 chains; choose chains to pay less`. */
  readonly reason: string;
};

/** Chains that the lookup does not cover cost nothing. Without a choice the service looks at those with the tag `default`. */
const chainsOf = (lookup: Lookup, chainIds: readonly number[], chains: Chains): number => {
  const main = chains.filter(({ tags }) => tags.includes('default')).map(({ chainId }) => chainId);
  const uncovered = chains.filter(({ supports }) => supports?.includes(lookup) === false);
  return (chainIds.length > 0 ? chainIds : main).filter(
    (id) => !uncovered.some(({ chainId }) => chainId === id),
  ).length;
};

/** The price of one page of each of the lists. No chain chosen means the service's main chains. */
export const priceOf = (fields: readonly Priced[], chainIds: readonly number[], chains: Chains): Price => {
  const requests = requestsOf(fields.length);
  let computeUnits = 0;
  const counts: number[] = [];
  for (const field of fields) {
    const tariff: Tariff = TARIFFS[field];
    const count = tariff.perChain === null ? null : chainsOf(tariff.perChain, chainIds, chains);
    computeUnits += tariff.computeUnits * (count ?? 1);
    if (count !== null) counts.push(count);
  }
  if (counts.length > 0 && chains.length === 0 && chainIds.length === 0)
    return { computeUnits: null, reason: `${requests}, paid for each chain` };
  const dearest = Math.max(0, ...counts);
  if (dearest <= 1) return { computeUnits, reason: requests };
  const others = fields.length - counts.length;
  const each = `${requestsOf(counts.length)} × ${dearest} chains${others > 0 ? ` and ${requestsOf(others)}` : ''}`;
  return { computeUnits, reason: chainIds.length === 0 ? `${each}; choose chains to pay less` : each };
};

const requestsOf = (count: number): string => counted(count, 'request', 'requests');

export const usePrice = (fields: readonly Priced[], chainIds: readonly number[]): Price =>
  priceOf(fields, chainIds, useChains());

/** The price as a short text, with its reason on hover: `14 CU`. */
export const PriceTag = ({ of, chainIds = [] }: { of: readonly Priced[]; chainIds?: readonly number[] }) => {
  const { computeUnits, reason } = usePrice(of, chainIds);
  const text = computeUnits === null ? 'paid for each chain' : `${formatCount(computeUnits)} CU`;
  return html`<span class="price" title=${`${text}: ${reason}. Less if the gateway has some of it already.`}>${text}</span>`;
};

const FIELDS = /\b(\w+)\s*[({]/g;

const isPriced = (field: string): field is Priced => Object.hasOwn(TARIFFS, field);

/** The lists that a query reads. A portfolio is the sum of the pages of balances. */
const fieldsIn = (text: string): readonly Priced[] => {
  if (!/\bquery\b/.test(text)) return [];
  const names = [...text.matchAll(FIELDS)].map(([, name = '']) => (name === 'portfolio' ? 'balances' : name));
  return [...new Set(names)].filter(isPriced);
};

const chainIdsIn = (variables: unknown): readonly number[] =>
  isRecord(variables) && Array.isArray(variables.chainIds) ? variables.chainIds : [];

/** Says of an answer why it cost what it did, and about how many compute units the pages that were kept have saved. */
export const explain = ({ text, variables, cost }: LedgerEntry, chains: Chains) => {
  const { computeUnits, requests, cached, watched = 0 } = cost;
  const price = priceOf(fieldsIn(text), chainIdsIn(variables), chains);
  const saved = cached > 0 ? Math.max(0, (price.computeUnits ?? 0) - computeUnits) : 0;
  const kept = watched > 0 ? 'from cache, as the wallet is watched' : 'from cache';
  if (computeUnits === 0 && requests === 0)
    return { reason: cached > 0 ? kept : 'answered by the gateway itself, free', saved };
  if (computeUnits === 0) return { reason: 'asked the service, for free', saved };
  const asked = price.computeUnits === computeUnits ? price.reason : requestsOf(requests);
  return { reason: cached > 0 ? `${asked}; the rest ${kept}` : asked, saved };
};
