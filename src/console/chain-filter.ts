import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Chains, type ChainsQuery, type Lookup } from './__generated__/operations.ts';
import { send } from './api/client.ts';
import { html } from './components.ts';
import { setExplorers } from './explorers.ts';
import { counted, inWords, type NameOfChain, setNatives } from './format.ts';
import { useParam } from './route.ts';
import { createStore, useStore } from './state.ts';

type Chain = ChainsQuery['chains'][number];

type Known = { readonly chains: readonly Chain[]; readonly nameOf: NameOfChain };

const knownFrom = (chains: readonly Chain[]): Known => {
  const names = new Map<number | null, string>(chains.map(({ chainId, name }) => [chainId, inWords(name)]));
  return { chains, nameOf: (chainId) => names.get(chainId) ?? `chain ${chainId}` };
};

const known = createStore(knownFrom([]));
let asked = false;

const useKnown = (): Known => {
  useEffect(() => {
    if (asked) return;
    asked = true;
    void send(Chains, {}).then(({ data }) => {
      if (data === null) asked = false;
      else {
        setNatives(data.chains);
        setExplorers(data.chains);
        known.set(knownFrom(data.chains));
      }
    });
  }, []);
  return useStore(known);
};

export const useChains = (): readonly Chain[] => useKnown().chains;

/** A chain, and whether the service finds its transactions by their hashes, as far as that is known. */
export const useChain = (chainId: number | null) => {
  const chain = useChains().find((each) => each.chainId === chainId);
  return { chain, findsByHash: chain?.supports?.includes('TRANSACTION') ?? false };
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

/** Says in place of a value that nothing has a price: over chains of one's own, how that is mended. */
export const NoPrices = () =>
  useChains().some(({ index }) => index !== null) ? html`No prices: set <code>PRICES</code>` : html`Unpriced`;

/** Names chains. It is the same function as long as the known chains are the same. */
export const useChainNames = (): NameOfChain => useKnown().nameOf;

const idsIn = (text: string): number[] =>
  text
    .split(',')
    .map(Number)
    .filter((id) => Number.isSafeInteger(id) && id > 0);

/** The chains in the address bar, and a function that changes them. None of them means the main chains. */
export const useChainIds = (): [chainIds: readonly number[], set: (chainIds: readonly number[]) => void] => {
  const [text, setText] = useParam('chains');
  const chainIds = useMemo(() => idsIn(text), [text]);
  return [chainIds, (ids) => setText(ids.join())];
};

type Props = {
  selected: readonly number[];
  onChange: (chainIds: readonly number[]) => void;
  /** What no choice means. */
  none?: string;
};

/**
 * Closes the menu on Escape, and when the focus or a click goes elsewhere. An element around it is not elsewhere: a press on
 * a label's text focuses it, and the click of that press is still to come.
 */
const useClosing = () => {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const elsewhere = ({ target }: Event) => {
      if (!menu.current || !(target instanceof Node)) return;
      if (!menu.current.contains(target) && !target.contains(menu.current)) menu.current.open = false;
    };
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || !menu.current?.open) return;
      menu.current.open = false;
      menu.current.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', elsewhere);
    document.addEventListener('focusin', elsewhere);
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('pointerdown', elsewhere);
      document.removeEventListener('focusin', elsewhere);
      document.removeEventListener('keydown', onKey);
    };
  }, []);
  return menu;
};

export const ChainFilter = ({ selected, onChange, none = 'Main chains' }: Props) => {
  const { chains, nameOf } = useKnown();
  const menu = useClosing();
  const toggle = (chainId: number) =>
    onChange(selected.includes(chainId) ? selected.filter((id) => id !== chainId) : [...selected, chainId]);
  const names = chains.flatMap(({ chainId }) => (selected.includes(chainId) ? [nameOf(chainId)] : []));
  // A chain that the gateway does not know, or not yet, counts as well.
  const isNamed = names.length === selected.length && names.length < 3;
  const chosen = isNamed ? names.join(', ') : counted(selected.length, 'chain', 'chains');
  return html`<details class="menu" ref=${menu}>
    <summary>${selected.length === 0 ? none : html`<span class="visually-hidden">Chains: </span>${chosen}`}</summary>
    <div class="popup options">
      <button type="button" disabled=${selected.length === 0} onClick=${() => onChange([])}>${none}</button>
      ${chains.map(
        ({ chainId }) => html`<label key=${chainId}>
          <input type="checkbox" checked=${selected.includes(chainId)} onChange=${() => toggle(chainId)} />
          <span>${nameOf(chainId)}</span>
        </label>`,
      )}
    </div>
  </details>`;
};
