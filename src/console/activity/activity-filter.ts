import { useState } from 'preact/hooks';
import { html } from '../components.ts';
import { shorten } from '../format.ts';
import { route, setParams } from '../route.ts';
import { useStore } from '../state.ts';
import { type ActivityItem, FILTERS, type Filter, KINDS, leastOf, symbolsOf } from './activity-model.ts';

const SORTS = {
  newest: 'newest first',
  oldest: 'oldest first',
  biggest: 'largest value first',
} as const;
type Sort = keyof typeof SORTS;

const isSort = (text: string | null): text is Sort => text !== null && Object.hasOwn(SORTS, text);

export type Chosen = {
  readonly filter: Filter;
  readonly sort: Sort;
  /** Whether anything is left out, or the order is not the list's own. */
  readonly isActive: boolean;
};

/** The filter and the order in the address bar. */
export const useChosen = (): Chosen => {
  const { params } = useStore(route);
  const filter = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ''])) as Filter;
  const wanted = params.get('sort');
  const sort = isSort(wanted) ? wanted : 'newest';
  const isActive = sort !== 'newest' || Object.values(filter).some((value) => value !== '');
  return { filter, sort, isActive };
};

export const clearChosen = (): void =>
  setParams(Object.fromEntries([...FILTERS, 'sort'].map((name) => [name, ''])));

const MOST_TOKENS = 200;

/** The symbols of the loaded items, those of most items first. */
const tokensOf = (items: readonly ActivityItem[]): readonly (readonly [symbol: string, count: number])[] => {
  const counts = new Map<string, number>();
  for (const symbol of items.flatMap(symbolsOf)) counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MOST_TOKENS);
};

const textIn = (event: Event): string => (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;

type SelectProps = {
  label: string;
  name: keyof Filter | 'sort';
  value: string;
  options: readonly (readonly [value: string, text: string])[];
};

const Select = ({ label, name, value, options }: SelectProps) => {
  const onChange = (event: Event) => setParams({ [name]: textIn(event) });
  // A link may name what is not among the loaded items.
  const isKnown = options.some(([known]) => known === value);
  return html`<label class="field">${label}
    <select value=${value} onChange=${onChange}>
      ${!isKnown && html`<option value=${value}>${value}</option>`}
      ${options.map(([known, text]) => html`<option key=${known} value=${known}>${text}</option>`)}
    </select>
  </label>`;
};

const SELDOM = ['side', 'token', 'min', 'from', 'to'] as const satisfies readonly (keyof Filter)[];

export const ActivityFilter = ({ items, chosen }: { items: readonly ActivityItem[]; chosen: Chosen }) => {
  const { filter, sort } = chosen;
  const set = SELDOM.filter((name) => filter[name] !== '').length;
  const [isOpen] = useState(set > 0);
  const isBad = filter.min !== '' && leastOf(filter.min) === null;
  return html`<form class="stack tight activity-filter" onSubmit=${(event: Event) => event.preventDefault()}>
    <div class="grid">
      <label class="field is-wide">Search
        <input type="search" value=${filter.q} placeholder="address, token, function, hash" spellcheck=${false} autocomplete="off" onInput=${(event: Event) => setParams({ q: textIn(event) })} />
      </label>
      <${Select} label="Kind" name="kind" value=${filter.kind} options=${[['', 'everything'], ['transfer', 'transfers'], ...KINDS.map((kind) => [kind, kind === 'other' ? 'something else' : kind])]} />
      <${Select} label="Sort" name="sort" value=${sort} options=${Object.entries(SORTS)} />
    </div>
    <details open=${isOpen}>
      <summary>More filters${set > 0 && `: ${set} set`}</summary>
      <div class="grid">
        <${Select} label="Direction" name="side" value=${filter.side} options=${[['', 'in and out'], ['in', 'in'], ['out', 'out']]} />
        <${Select} label="Token" name="token" value=${filter.token} options=${[['', 'every token'], ...tokensOf(items).map(([symbol, count]) => [symbol, `${shorten(symbol, 30)} (${count})`])]} />
        <label class="field">At least, in $
          <input inputmode="decimal" value=${filter.min} placeholder="0" autocomplete="off" aria-invalid=${isBad} title=${isBad ? 'Expected a decimal number such as 250 or 0.5' : undefined} onInput=${(event: Event) => setParams({ min: textIn(event) })} />
        </label>
        <label class="field">From <input type="date" value=${filter.from} onChange=${(event: Event) => setParams({ from: textIn(event) })} /></label>
        <label class="field">To <input type="date" value=${filter.to} onChange=${(event: Event) => setParams({ to: textIn(event) })} /></label>
      </div>
    </details>
  </form>`;
};
