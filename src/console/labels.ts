import { isRecord, shortHex } from './format.ts';
import { isAddress } from './route.ts';
import { nameOf } from './settings.ts';
import { createStore, useStore } from './state.ts';

/** Names that a person gives to addresses. They stay in this browser: no request contains them. */

const KEY = 'console:labels';
const MOST_LABELS = 1000;
/** The most characters of a name. Longer ones are cut. */
export const MOST_CHARACTERS = 60;

type Labels = ReadonlyMap<string, string>;

/** A name as it is kept: without surrounding or repeated white space, and without characters that change how others read. */
const cleaned = (name: string): string =>
  name
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS)
    .trim();

/** Reads labels from a JSON object of names by address, and counts the entries that are not labels. Null for any other text. */
const parse = (text: string): { readonly labels: Labels; readonly refused: number } | null => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const labels = new Map<string, string>();
  const entries = Object.entries(value);
  for (const [address, name] of entries)
    if (isAddress(address) && typeof name === 'string' && cleaned(name) !== '' && labels.size < MOST_LABELS)
      labels.set(address.toLowerCase(), cleaned(name));
  return { labels, refused: entries.length - labels.size };
};

/** A browser may refuse storage. The labels then last as long as the page. */
const load = (): Labels => {
  try {
    return parse(localStorage.getItem(KEY) ?? '{}')?.labels ?? new Map();
  } catch {
    return new Map();
  }
};

const labels = createStore<Labels>(load());

// Another tab has changed them.
addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) labels.set(load());
});

const keep = (next: Labels): void => {
  labels.set(next);
  try {
    localStorage.setItem(KEY, exportLabels());
  } catch {
    // They last as long as the page.
  }
};

/** The labels as JSON, which `importLabels` reads. */
export const exportLabels = (): string => JSON.stringify(Object.fromEntries(labels.get()), null, 2);

/** Adds labels from JSON, in place of those that the same addresses have. Returns what happened, in words. */
export const importLabels = (text: string): { readonly done: string } | { readonly error: string } => {
  const read = parse(text);
  if (read === null)
    return { error: 'Expected a JSON object of names by address, {"0x…": "name"}, got another text.' };
  const all = [...labels.get(), ...read.labels];
  const next = new Map(all.slice(0, MOST_LABELS));
  const left = new Map(all).size - next.size;
  keep(next);
  const added = `${read.labels.size - left} ${read.labels.size - left === 1 ? 'label' : 'labels'} imported`;
  const refused =
    read.refused === 0
      ? ''
      : `, ${read.refused} ${read.refused === 1 ? 'entry is' : 'entries are'} not an address with a name`;
  return {
    done: `${added}${refused}${left > 0 ? `, ${left} are beyond the ${MOST_LABELS} that are kept` : ''}.`,
  };
};

/** Names an address; an empty name removes the label. Returns why it could not; null when it is done. */
export const setLabel = (address: string, name: string): string | null => {
  const next = new Map(labels.get());
  const key = address.toLowerCase();
  const label = cleaned(name);
  if (label === '') next.delete(key);
  else next.set(key, label);
  if (next.size > MOST_LABELS) return `Expected at most ${MOST_LABELS} labels: remove one first.`;
  keep(next);
  return null;
};

/** The person's own labels, by address in lower case. */
export const useLabels = (): Labels => useStore(labels);

/** What an address is called: its own label, or the sandbox's name; null for any other. */
export const labelOf = (address: string): string | null =>
  labels.get().get(address.toLowerCase()) ?? nameOf(address);

/** The same, or else the shortened address. */
export const nameOfAddress = (address: string): string => labelOf(address) ?? shortHex(address);

/** `labelOf`, which renders the component again when the label changes. */
export const useLabel = (address: string): string | null => {
  useStore(labels);
  return labelOf(address);
};
