import { type ComponentChildren, createContext, h } from 'preact';
import { useContext, useEffect, useMemo } from 'preact/hooks';
import { Chains, type ChainsQuery, type Lookup } from './__generated__/operations.ts';
import { send } from './api/client.ts';
import { inWords, type NameOfChain, setNatives } from './format.ts';
import { VIEWS, type View } from './route.ts';
import { createStore, useStore } from './state.ts';

/** The chains that the service has, and the block explorers that it has their data from, as far as the gateway has listed them. */

type Chain = ChainsQuery['chains'][number];
type Explorer = NonNullable<Chain['explorer']>;

const listed = createStore<readonly Chain[]>([]);
let isAsked = false;

/** Asks for the list when it is first used. Those that only look at what is listed ask for nothing. */
export const useChains = (): readonly Chain[] => {
  useEffect(() => {
    if (isAsked) return;
    isAsked = true;
    void send(Chains, {}).then(({ data }) => {
      isAsked = data !== null;
      setNatives(data?.chains ?? []);
      listed.set(data?.chains ?? []);
    });
  }, []);
  return useStore(listed);
};

/** A chain, and whether the service finds its transactions by their hashes, as far as that is known. */
export const useChain = (chainId: number | null) => {
  const chain = useChains().find((each) => each.chainId === chainId);
  return { chain, findsByHash: chain?.supports?.includes('TRANSACTION') ?? false };
};

/** Names chains. It is the same function as long as the listed chains are the same. */
export const useChainNames = (): NameOfChain => {
  const chains = useChains();
  return useMemo(() => {
    const names = new Map<number | null, string>(chains.map(({ chainId, name }) => [chainId, inWords(name)]));
    return (chainId) => names.get(chainId) ?? `chain ${chainId}`;
  }, [chains]);
};

/** Whether the service offers a lookup for any of the chains, of those that only some services have. */
export const isSupported = (chains: readonly Chain[], lookup: Lookup): boolean =>
  chains.some(({ supports }) => supports?.includes(lookup) === true);

/** The chains on which a transaction is found by its hash, or else all of them, the main ones first. */
export const mostLikely = (chains: readonly Chain[]): readonly Chain[] => {
  const isMain = ({ tags }: Chain): boolean => tags.includes('default');
  const finding = chains.filter(({ supports }) => supports?.includes('TRANSACTION'));
  return (finding.length > 0 ? finding : chains).toSorted(
    (one, other) => Number(isMain(other)) - Number(isMain(one)),
  );
};

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
  const shown = useStore(listed).filter(({ chainId }) => chainIds.includes(chainId));
  return [...new Set(shown.flatMap(({ explorer }) => explorer?.name ?? []))];
};

/** Whether events of any chain may arrive: explorers have them only where their chains say so. */
export const useDelivers = (): boolean => {
  const chains = useStore(listed);
  return (
    chains.length === 0 || chains.some(({ explorer }) => explorer === null) || isSupported(chains, 'WEBHOOKS')
  );
};

const OF_EVENTS: ReadonlySet<View> = new Set(['live', 'webhooks']);

/** The views that have something to show. */
export const useOfferedViews = (): readonly View[] => {
  const delivers = useDelivers();
  return VIEWS.filter((view) => delivers || !OF_EVENTS.has(view));
};
