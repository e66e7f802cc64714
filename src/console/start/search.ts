import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { titleOf } from '../api/client.ts';
import { html } from '../components.ts';
import { shorten } from '../format.ts';
import { insteadOfAddress, navigate } from '../route.ts';
import {
  SEARCH_CU,
  SHORTEST_NAME,
  type Suggestion,
  type TokenSearch,
  useSuggestions,
  useTokenSearch,
} from './suggestions.ts';

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

const refusal = (text: string): string =>
  `Expected an address of 0x and 40 hex digits, a transaction’s hash of 0x and 64, a label, or ${SHORTEST_NAME} letters of a token’s name, got ${insteadOfAddress(text, `“${shorten(text, 50)}”`)}.`;

/** What the token search does at present, in words. */
const statusOf = (
  { isFollowing, isLoading, text, tokens, problem, missing }: TokenSearch,
  typed: string,
): string => {
  if (!isFollowing) return '';
  if (typed.trim().length < SHORTEST_NAME) return `Type ${SHORTEST_NAME} letters or more to find tokens.`;
  if (problem) return `${titleOf(problem)}: ${shorten(problem.message, 200)}`;
  if (isLoading) return `Searching tokens, for ${SEARCH_CU} CU…`;
  if (tokens.length === 0 && text === '') return '';
  const said =
    tokens.length === 0
      ? `The service knows no token named like “${shorten(text, 40)}”.`
      : `Anyone can use any symbol: compare the address. To search for another text costs ${SEARCH_CU} CU.`;
  return [...missing.map((each) => `${each}.`), said].join(' ');
};

type OptionsProps = {
  id: string;
  suggestions: readonly Suggestion[];
  chosen: Suggestion | undefined;
  onPoint: (suggestion: Suggestion) => void;
  onChoose: (suggestion: Suggestion) => void;
};

const optionId = (list: string, { id }: Suggestion): string => `${list}-${id}`;

const Options = ({ id, suggestions, chosen, onPoint, onChoose }: OptionsProps) => {
  const groups = Object.entries(Object.groupBy(suggestions, ({ group }) => group));
  useEffect(() => {
    if (chosen) document.getElementById(optionId(id, chosen))?.scrollIntoView({ block: 'nearest' });
  }, [id, chosen?.id]);
  // The focus stays in the field, so that a click is not lost with the list.
  const keepFocus = (event: Event) => event.preventDefault();
  return html`<div role="listbox" id=${id} aria-label="Found" onMouseDown=${keepFocus}>
    ${groups.map(
      ([group, items]) => html`<div key=${group} role="group" aria-labelledby=${`${id}-${group}`}>
        <p class="option-group quiet small strong" id=${`${id}-${group}`}>${group}</p>
        ${items?.map(
          (
            item,
          ) => html`<div key=${item.id} class="option" role="option" id=${optionId(id, item)} aria-selected=${item === chosen} onPointerMove=${() => onPoint(item)} onClick=${() => onChoose(item)}>
            ${item.picture ?? html`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true"><path d=${typeof item.action === 'string' ? 'M2.5 8h10M9 4.5 12.5 8 9 11.5' : 'M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0ZM10.2 10.2l3.6 3.6'} /></svg>`}
            <span class="strong">${item.title}</span>
            <span class="quiet small">${item.detail}</span>
          </div>`,
        )}
      </div>`,
    )}
  </div>`;
};

type Props = {
  /** Unique on the page: ids begin with it. */
  name: string;
  label: string;
  /** Of the palette, which names the views too and lists without the focus: called when something was chosen. */
  onDone?: () => void;
};

/**
 * A field that finds wallets by address or label, tokens by name, and in the palette views. The arrow keys choose among what
 * it offers, Enter opens that.
 */
export const Search = ({ name, label, onDone }: Props) => {
  const isPalette = onDone !== undefined;
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (isPalette) field.current?.focus();
  }, []);
  const [typed, setTyped] = useState('');
  const [isOpen, setOpen] = useState(isPalette);
  const [active, setActive] = useState(0);
  const [error, setError] = useState('');
  const search = useTokenSearch(typed);
  const suggestions = useSuggestions(typed, search, isPalette);
  const list = `${name}-list`;
  const chosen = suggestions[Math.min(active, suggestions.length - 1)];
  const status = statusOf(search, typed);
  const isShown = isOpen && (suggestions.length > 0 || status !== '');

  const write = (text: string) => {
    setTyped(text);
    setError('');
    setActive(0);
    setOpen(true);
    if (text.trim() === '') search.end();
  };
  const choose = ({ action }: Suggestion) => {
    if (typeof action !== 'string') {
      action();
      setActive(0);
      return;
    }
    navigate(action);
    write('');
    setOpen(isPalette);
    onDone?.();
  };
  const enter = () => {
    const isEmpty = typed.trim() === '' && !isPalette;
    if (chosen && !isEmpty) choose(chosen);
    else if (!search.isLoading && search.text === '') setError(refusal(typed.trim()));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (event.key === 'Enter') enter();
    // A search field would keep the first Escape for itself, to empty itself.
    else if (event.key === 'Escape' && isPalette) onDone?.();
    else if (event.key === 'Escape' && isOpen) setOpen(false);
    else if (step !== undefined && suggestions.length > 0) {
      setOpen(true);
      setActive((Math.min(active, suggestions.length - 1) + step + suggestions.length) % suggestions.length);
    } else return;
    event.preventDefault();
  };

  return html`<div class=${`stack search ${isPalette ? 'is-palette' : ''}`} role="search" onFocusOut=${() => setOpen(isPalette)}>
    <label for=${`${name}-field`} class=${isPalette ? 'visually-hidden' : ''}>${label}</label>
    <input ref=${field} id=${`${name}-field`} type="search" role="combobox" placeholder="0x… address or hash, label, or token" autocomplete="off" autocapitalize="none" spellcheck=${false} autofocus=${isPalette} value=${typed} aria-expanded=${isShown} aria-controls=${list} aria-autocomplete="list" aria-activedescendant=${isShown && chosen ? optionId(list, chosen) : undefined} aria-invalid=${error !== ''} aria-describedby=${`${name}-error`} onInput=${(event: InputEvent) => event.currentTarget instanceof HTMLInputElement && write(event.currentTarget.value)} onFocus=${() => setOpen(true)} onClick=${() => setOpen(true)} onKeyDown=${onKeyDown} />
    <span class="error" id=${`${name}-error`} role="alert">${error}</span>
    <div class="popup found" hidden=${!isShown}>
      <${Options} id=${list} suggestions=${suggestions} chosen=${chosen} onPoint=${(pointed: Suggestion) => setActive(suggestions.indexOf(pointed))} onChoose=${choose} />
      <p class="quiet small" role="status">${status}</p>
    </div>
  </div>`;
};
