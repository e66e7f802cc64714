import { badUserInput } from '../graph/errors.ts';
import type { ChainLookup } from '../upstream/parse/fields.ts';
import type { Chain } from './known-chains.ts';

/** The chains that this gateway knows, looked up by name and checked by id and tag. */
export type Chains = {
  /** In the order of their ids. */
  readonly all: readonly Chain[];
  /** The ids of all chains by upstream's names for them. */
  readonly idsByName: ReadonlyMap<string, number>;
  /** The chain with this id; null for an unknown one. */
  find(chainId: number): Chain | null;
  /** The id of the chain with upstream's name for it; null for an unknown name. */
  idOf(name: string): number | null;
  /** Throws BAD_USER_INPUT for an unknown id or tag, since a lookup by it would find nothing. */
  assertKnown(
    chainIds: readonly number[] | null | undefined,
    chainTags?: readonly string[] | null | undefined,
  ): void;
  /** Throws BAD_USER_INPUT for a chain that the service does not offer a lookup for, before it is billed. */
  assertSupported(lookup: ChainLookup, chainIds: readonly number[] | null | undefined): void;
};

/** The number of unknown ids that one error lists. */
const MAX_LISTED = 5;

/** Adds `extra` to the listed chains. An extra chain replaces the name and tags of the listed one with the same id. */
export const createChains = (listed: readonly Chain[], extra: readonly Chain[]): Chains => {
  const byId = new Map(listed.map((chain) => [chain.chainId, chain]));
  for (const chain of extra) byId.set(chain.chainId, { ...byId.get(chain.chainId), ...chain });
  const all = [...byId.values()].sort((one, other) => one.chainId - other.chainId);
  const byName = new Map(all.map((chain) => [chain.name, chain]));
  const idsByName = new Map(all.map(({ name, chainId }) => [name, chainId]));
  const tags = [...new Set(all.flatMap((chain) => chain.tags))].sort();

  const suggestIds = (chainIds: readonly number[]): string => {
    const near = chainIds.map((id) =>
      closestMatch(
        String(id),
        all.map(({ chainId }) => String(chainId)),
      ),
    );
    const found = near.flatMap((id) => byId.get(Number(id)) ?? []);
    return found.length === 0
      ? '.'
      : `: did you mean ${found.map(({ chainId, name }) => `${chainId} (${name})`).join(', ')}?`;
  };
  const suggestTag = (tag: string): string => {
    const chain = byName.get(tag);
    if (chain) return `: that is the name of a chain, which chainIds takes as ${chain.chainId}.`;
    const near = closestMatch(tag, tags);
    return near === null ? '.' : `: did you mean ${near}?`;
  };

  return {
    all,
    idsByName,
    find: (chainId) => byId.get(chainId) ?? null,
    idOf: (name) => idsByName.get(name) ?? null,
    assertKnown(chainIds, chainTags) {
      const ids = [...new Set(chainIds)].filter((id) => !byId.has(id)).slice(0, MAX_LISTED);
      if (ids.length > 0)
        throw badUserInput(
          `Expected chainIds that the query { chains { chainId name } } lists, or that EXTRA_CHAINS adds, got ${ids.join(', ')}${suggestIds(ids)}`,
        );
      const tag = chainTags?.find((each) => !tags.includes(each));
      if (tag !== undefined)
        throw badUserInput(
          `Expected chainTags among ${tags.join(', ')}, got ${JSON.stringify(tag)}${suggestTag(tag)}`,
        );
    },
    assertSupported(lookup, chainIds) {
      const unsupported = [...new Set(chainIds)].flatMap((id) => {
        const chain = byId.get(id);
        return chain?.supports && !chain.supports.includes(lookup) ? `${id} (${chain.name})` : [];
      });
      if (unsupported.length > 0)
        throw badUserInput(
          `Expected chains that the service supports for ${lookup}, as the query { chains { chainId supports } } lists them, got ${unsupported.slice(0, MAX_LISTED).join(', ')}.`,
        );
    },
  };
};

/** Returns the candidate closest to `text`, at most two edits away (one for a text of up to 5 characters); else null. */
const closestMatch = (text: string, candidates: readonly string[]): string | null => {
  const allowed = text.length > 5 ? 2 : 1;
  const [best] = candidates
    .filter((candidate) => Math.abs(candidate.length - text.length) <= allowed)
    .map((candidate) => ({ candidate, edits: editsBetween(text, candidate) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((one, other) => one.edits - other.edits);
  return best?.candidate ?? null;
};

/** The edits between two texts: insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
const editsBetween = (one: string, other: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
};
