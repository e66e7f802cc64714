import { CHAINS, type SandboxChain } from '../chains.ts';

/** A malformed query parameter. The message is sent to the client. */
export class MalformedQuery extends Error {}

/** A well-formed request that can not be served. Each lookup puts the message into its own error body. */
export class RejectedQuery extends Error {}

/** The parameter's value; null when it is absent. A parameter given twice is ambiguous, so it is refused. */
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

/** Reads the page size. Larger limits are reduced to `greatest`; anything but an integer from 1 is refused. */
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

/** The chains of a request, each once, and the requested ids that the service does not support. */
export type ChainChoice = {
  readonly chains: readonly SandboxChain[];
  readonly unsupported: readonly number[];
};

/**
 * Reads the chain filter: numeric ids and tags, separated by commas. Default: the default tag.
 * @throws RejectedQuery for anything else, the names of chains included.
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

/** The chains of one id or tag; empty for an id that the service does not support. */
const chainsBy = (item: string): readonly SandboxChain[] => {
  if (/^\d+$/.test(item) && Number.isSafeInteger(Number(item)))
    return CHAINS.filter((chain) => chain.id === Number(item));
  const tagged = CHAINS.filter((chain) => chain.tags.includes(item));
  if (tagged.length > 0) return tagged;
  throw new RejectedQuery(
    `Invalid chain_ids: expected numeric chain ids or tags, got '${item.slice(0, 80)}'`,
  );
};
