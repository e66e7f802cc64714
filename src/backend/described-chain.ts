import { CHAINS } from './sandbox/chains.ts';
import type { Chain, NativeAsset } from './types.ts';

/** A chain of a setting. */
export type NamedChain = {
  readonly id: number;
  /** What a setting calls it, and the groups of chains that it is in. Default: what is known of the id. */
  readonly named?: { readonly name: string; readonly tags: readonly string[] };
  /** Its own currency. Default: ether. */
  readonly native?: { readonly symbol: string; readonly name: string | null; readonly decimals: number };
};

const ETHER: NativeAsset = { name: 'Ether', symbol: 'ETH', decimals: 18 };

/** A chain as a setting names it, or else by what is known of its id: those of devnets say nothing of what they are. */
export const describedChain = ({
  id,
  named,
  native: said,
}: NamedChain): Pick<Chain, 'id' | 'name' | 'tags' | 'native'> => {
  const known = CHAINS.find((chain) => chain.id === id && !chain.tags.includes('devnet'));
  const { symbol, decimals, isStable = false, name }: NativeAsset = known?.native ?? ETHER;
  return {
    id,
    name: named?.name ?? known?.name ?? `chain_${id}`,
    tags: named?.tags ?? [...new Set(['default', ...(known?.tags ?? [])])],
    native:
      said === undefined
        ? { name, symbol, decimals, isStable }
        : { ...said, name: said.name ?? said.symbol, isStable: isStable && said.symbol === symbol },
  };
};
