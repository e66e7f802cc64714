import { malformed } from './fields.ts';

/** The chains that a list was asked for, where the request named each by its id. */
export type AskedChains = {
  readonly ids: ReadonlySet<number>;
  /** The id of the chain with upstream's name for it; null for a name that is not known. */
  readonly idOf: ChainIdOf;
};

export type ChainIdOf = (name: string) => number | null;

/** Reads upstream's parameter for chains. Null where it has tags: which chains they select is for upstream to say. */
export const askedChains = (parameter: string | null, idOf: ChainIdOf): AskedChains | null => {
  const parts = parameter?.split(',') ?? [];
  if (parts.length === 0 || !parts.every((part) => /^\d+$/.test(part))) return null;
  return { ids: new Set(parts.map(Number)), idOf };
};

/**
 * Returns the id of the chain that an item is of if it was not asked for. Null for one that was, and for an item that does not
 * say its chain, or by a name that is not known.
 */
export const otherChainOf = (
  { ids, idOf }: AskedChains,
  { chainId, chain }: { readonly chainId: number | null; readonly chain: string | null },
): number | null => {
  const id = chainId ?? (chain === null ? null : idOf(chain));
  return id === null || ids.has(id) ? null : id;
};

/**
 * A client that asks for some chains may add up the items, so an item of another chain counts as malformed. Throws
 * MalformedFieldError.
 */
export const assertAsked = (chains: AskedChains, item: Parameters<typeof otherChainOf>[1]): void => {
  const other = otherChainOf(chains, item);
  if (other !== null)
    throw malformed('chain_id', `one of ${[...chains.ids].join(', ')}, as requested`, other);
};
