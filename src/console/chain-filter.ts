import { useEffect, useRef } from 'preact/hooks';
import { Chains, type ChainsQuery } from './__generated__/operations.ts';
import { send } from './api/client.ts';
import { html } from './components.ts';
import { inWords } from './format.ts';
import { createStore, useStore } from './state.ts';

type Chain = ChainsQuery['chains'][number];

const chains = createStore<readonly Chain[]>([]);
let asked = false;

/** The chains that the gateway knows. They are asked for once. */
export const useChains = (): readonly Chain[] => {
  useEffect(() => {
    if (asked) return;
    asked = true;
    void send(Chains, {}).then(({ data }) => {
      if (data) chains.set(data.chains);
      else asked = false;
    });
  }, []);
  return useStore(chains);
};

type Props = {
  selected: readonly number[];
  onChange: (chainIds: readonly number[]) => void;
  /** What it is called when none is chosen. */
  none?: string;
};

/** Closes the menu on Escape, and when the focus or a click goes elsewhere. */
const useClosing = () => {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const elsewhere = ({ target }: Event) => {
      if (menu.current && target instanceof Node && !menu.current.contains(target)) menu.current.open = false;
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

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Chooses chains: none of them is all that the service answers for. */
export const ChainFilter = ({ selected, onChange, none = 'the usual ones' }: Props) => {
  const known = useChains();
  const menu = useClosing();
  const toggle = (chainId: number) =>
    onChange(selected.includes(chainId) ? selected.filter((id) => id !== chainId) : [...selected, chainId]);
  const names = known.filter(({ chainId }) => selected.includes(chainId)).map(({ name }) => inWords(name));
  // A chain that the gateway does not know, or not yet, counts as well.
  const isNamed = names.length === selected.length && names.length < 3;
  const chosen = isNamed ? names.join(', ') : selected.length;
  return html`<details class="menu" ref=${menu}>
    <summary>Chains: ${selected.length === 0 ? none : chosen}</summary>
    <div class="options">
      <button type="button" disabled=${selected.length === 0} onClick=${() => onChange([])}>${capitalised(none)}</button>
      ${known.map(
        ({ chainId, name }) => html`<label key=${chainId}>
          <input type="checkbox" checked=${selected.includes(chainId)} onChange=${() => toggle(chainId)} />
          <span>${inWords(name)}</span>
        </label>`,
      )}
    </div>
  </details>`;
};
