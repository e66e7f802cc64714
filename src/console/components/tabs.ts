import { html } from '../html.ts';

export type Tab<Id extends string> = { readonly id: Id; readonly title: string };

type Props<Id extends string> = {
  /** What the tabs' ids begin with; see `tabId` and `panelId`. */
  name: string;
  label: string;
  tabs: readonly Tab<Id>[];
  selected: Id;
  onSelect: (id: Id) => void;
};

export const tabId = (name: string, id: string): string => `${name}-${id}-tab`;
export const panelId = (name: string, id: string): string => `${name}-${id}-panel`;

const STEPS: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowLeft: (index, count) => (index + count - 1) % count,
  ArrowRight: (index, count) => (index + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** The tabs of panels. The arrow keys choose among them; only the chosen one is a stop of the Tab key. */
export const TabList = <Id extends string>({ name, label, tabs, selected, onSelect }: Props<Id>) => {
  const onKeyDown = (event: KeyboardEvent) => {
    const index = tabs.findIndex(({ id }) => id === selected);
    const next = tabs[STEPS[event.key]?.(index, tabs.length) ?? -1];
    if (!next) return;
    event.preventDefault();
    onSelect(next.id);
    document.getElementById(tabId(name, next.id))?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${onKeyDown}>
    ${tabs.map(
      ({ id, title }) =>
        html`<button key=${id} type="button" role="tab" id=${tabId(name, id)} aria-selected=${id === selected} aria-controls=${panelId(name, id)} tabindex=${id === selected ? 0 : -1} onClick=${() => onSelect(id)}>${title}</button>`,
    )}
  </div>`;
};
