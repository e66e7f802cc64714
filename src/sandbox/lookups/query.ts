import { CHAINS, type SandboxChain } from '../chains.ts';

/** A query parameter that is not what it must be; the text goes to the client. */
export class MalformedQuery extends Error {}

/** A request that is well formed but can't be served; each lookup words it in its own body. */
export class Refused extends Error {}

/** Null when absent. A parameter given twice is ambiguous, so it is refused. */
const single = (query: URLSearchParams, name: string): string | null => {
  const [value, ...others] = query.getAll(name);
  if (others.length > 0)
    throw new MalformedQuery(`Failed to deserialize query string: duplicate field \`${name}\``);
  return value ?? null;
};

export const flag = (query: URLSearchParams, name: string, otherwise: boolean): boolean => {
  const value = single(query, name);
  if (value === null) return otherwise;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new MalformedQuery(
    `Failed to deserialize query string: ${name}: provided string was not \`true\` or \`false\``,
  );
};

/** Larger limits are reduced to the greatest; what is no whole number from 1 is refused. */
export const limit = (query: URLSearchParams, otherwise: number, greatest: number): number => {
  const value = single(query, 'limit');
  if (value === null) return otherwise;
  if (!/^\d+$/.test(value) || Number(value) < 1) {
    throw new MalformedQuery(
      `Failed to deserialize query string: limit: expected a whole number from 1 to ${greatest}`,
    );
  }
  return Math.min(Number(value), greatest);
};

export const offset = (query: URLSearchParams): string | null => single(query, 'offset');

/** The chains that a request is about, each once, and the ids among those asked for that the service lacks. */
export type ChainChoice = {
  readonly chains: readonly SandboxChain[];
  readonly unsupported: readonly number[];
};

/**
 * Numeric ids and tags, separated by commas; the default tag when absent.
 * @throws Refused for anything else: the names of chains, too.
 */
export const chainChoice = (query: URLSearchParams): ChainChoice => {
  const items = (single(query, 'chain_ids') ?? 'default').split(',').map((item) => item.trim());
  const chains = new Set<SandboxChain>();
  const unsupported = new Set<number>();
  for (const item of items) {
    const found = chainsBy(item);
    for (const chain of found) chains.add(chain);
    if (found.length === 0) unsupported.add(Number(item));
  }
  return { chains: [...chains], unsupported: [...unsupported] };
};

/** None for an id that the service lacks. */
const chainsBy = (item: string): readonly SandboxChain[] => {
  if (/^\d+$/.test(item) && Number.isSafeInteger(Number(item)))
    return CHAINS.filter((chain) => chain.id === Number(item));
  const tagged = CHAINS.filter((chain) => chain.tags.includes(item));
  if (tagged.length > 0) return tagged;
  throw new Refused(`Invalid chain_ids: expected numeric chain ids or tags, got '${item.slice(0, 80)}'`);
};
