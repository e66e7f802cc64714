import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useChainNames, useChains } from './chains.ts';
import { html } from './components.ts';
import { counted } from './format.ts';
import { useParam } from './route.ts';

/** Says in place of a value that nothing has a price: over chains of one's own, how that is mended. */
export const NoPrices = () =>
  useChains().some(({ index }) => index !== null) ? html`No prices: set <code>PRICES</code>` : html`Unpriced`;

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
    const abort = new AbortController();
    const { signal } = abort;
    document.addEventListener('pointerdown', elsewhere, { signal });
    document.addEventListener('focusin', elsewhere, { signal });
    document.addEventListener('keydown', onKey, { signal });
    return () => abort.abort();
  }, []);
  return menu;
};

export const ChainFilter = ({ selected, onChange, none = 'Main chains' }: Props) => {
  const chains = useChains();
  const nameOf = useChainNames();
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
