import { type ComponentChildren, createContext, h } from 'preact';
import { useContext } from 'preact/hooks';
import type { ChainsQuery } from './__generated__/operations.ts';
import { VIEWS, type View } from './route.ts';
import { createStore, useStore } from './state.ts';

/** The block explorers that the service has chains' data from, as far as the gateway has listed the chains. */

type Chain = Pick<ChainsQuery['chains'][number], 'chainId' | 'explorer' | 'supports' | 'tags'>;
type Explorer = NonNullable<Chain['explorer']>;

const listed = createStore<readonly Chain[]>([]);

export const setExplorers = (chains: readonly Chain[]): void => listed.set(chains);

/** The chains that are read where none are chosen. */
export const useMainChainIds = (): readonly number[] =>
  useStore(listed).flatMap(({ chainId, tags }) => (tags.includes('default') ? [chainId] : []));

const Shown = createContext<Explorer | null>(null);

type OnChainProps = { chainId: number | null; children: ComponentChildren };

/** What is shown of a chain: links below it lead to the chain's explorer. */
export const OnChain = ({ chainId, children }: OnChainProps) => {
  const chain = useStore(listed).find((each) => each.chainId === chainId);
  return h(Shown.Provider, { value: chain?.explorer ?? null }, children);
};

/** The explorer of the chain that is shown; null where the service has its data from elsewhere, and for none or several. */
export const useExplorer = (): Explorer | null => useContext(Shown);

export const useExplorerNames = (chainIds: readonly (number | null)[]): readonly string[] => {
  const named = useStore(listed).flatMap(({ chainId, explorer }) =>
    explorer !== null && chainIds.includes(chainId) ? [explorer.name] : [],
  );
  return [...new Set(named)];
};

/** Whether events of any chain may arrive: explorers have them only where their chains say so. */
export const useDelivers = (): boolean => {
  const chains = useStore(listed);
  return (
    chains.length === 0 ||
    chains.some(({ explorer, supports }) => explorer === null || supports?.includes('WEBHOOKS') === true)
  );
};

const OF_EVENTS: ReadonlySet<View> = new Set(['live', 'webhooks']);

/** The views that have something to show. */
export const useOfferedViews = (): readonly View[] => {
  const delivers = useDelivers();
  return VIEWS.filter((view) => delivers || !OF_EVENTS.has(view));
};
