import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ChainsQuery } from './__generated__/operations.ts';
import { VIEWS, type View } from './route.ts';
import { createStore, useStore } from './state.ts';

/** The block explorers that the service has chains' data from, as far as the gateway has listed the chains. */

type Chain = Pick<ChainsQuery['chains'][number], 'chainId' | 'explorer'>;
type Explorer = NonNullable<Chain['explorer']>;

const listed = createStore<readonly Chain[]>([]);

export const setExplorers = (chains: readonly Chain[]): void => listed.set(chains);

/** The chain that what is shown is of, for the links below it. Default: none, or several. */
export const OnChain = createContext<number | null>(null);

/** The explorer of a chain; null where the service has its data from elsewhere. Default: the chain that is shown. */
export const useExplorer = (chainId?: number | null): Explorer | null => {
  const shown = useContext(OnChain);
  const wanted = chainId === undefined ? shown : chainId;
  return useStore(listed).find((chain) => chain.chainId === wanted)?.explorer ?? null;
};

/** The names of the explorers among these chains. */
export const useExplorerNames = (chainIds: readonly (number | null)[]): readonly string[] => {
  const named = useStore(listed).flatMap(({ chainId, explorer }) =>
    explorer !== null && chainIds.includes(chainId) ? [explorer.name] : [],
  );
  return [...new Set(named)];
};

/** Whether events of any chain may arrive: none do of those of explorers. */
export const useDelivers = (): boolean => {
  const chains = useStore(listed);
  return chains.length === 0 || chains.some(({ explorer }) => explorer === null);
};

const OF_EVENTS: ReadonlySet<View> = new Set(['live', 'webhooks']);

/** The views that have something to show. */
export const useOfferedViews = (): readonly View[] => {
  const delivers = useDelivers();
  return VIEWS.filter((view) => delivers || !OF_EVENTS.has(view));
};
