import { counted, isRecord, shortHex } from './format.ts';
import { isAddress } from './route.ts';
import { nameOf } from './settings.ts';
import { createKept, parsed, useStore } from './state.ts';

/** Names that a person gives to addresses. They stay in this browser: no request contains them. */

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

/** Reads labels from an object of names by address, and counts the entries that it leaves out. Null for any other value. */
const labelsIn = (value: unknown): { readonly labels: Labels; readonly refused: number } | null => {
  if (!isRecord(value)) return null;
  const labels = new Map<string, string>();
  const entries = Object.entries(value);
  for (const [address, name] of entries)
    if (isAddress(address) && typeof name === 'string' && cleaned(name) !== '' && labels.size < MOST_LABELS)
      labels.set(address.toLowerCase(), cleaned(name));
  return { labels, refused: entries.length - labels.size };
};

const labels = createKept<Labels>(
  localStorage,
  'console:labels',
  (kept) => labelsIn(kept)?.labels ?? new Map(),
  Object.fromEntries,
);

/** The labels as JSON, which `importLabels` reads. */
export const exportLabels = (): string => JSON.stringify(Object.fromEntries(labels.get()), null, 2);

/** Adds labels from JSON, in place of those that the same addresses have. Returns what happened, in words. */
export const importLabels = (text: string): { readonly done: string } | { readonly error: string } => {
  const read = labelsIn(parsed(text));
  if (read === null)
    return { error: 'Expected a JSON object of names by address, {"0x…": "name"}, got another text.' };
  const all = [...labels.get(), ...read.labels];
  const next = new Map(all.slice(0, MOST_LABELS));
  const left = new Map(all).size - next.size;
  labels.set(next);
  const said = [
    `${counted(read.labels.size - left, 'label', 'labels')} imported`,
    read.refused > 0 && `${counted(read.refused, 'entry is', 'entries are')} not an address with a name`,
    left > 0 && `${left} are beyond the ${MOST_LABELS} that are kept`,
  ];
  return { done: `${said.filter(Boolean).join(', ')}.` };
};

/** Names an address; an empty name removes the label. Returns why it could not; null when it is done. */
export const setLabel = (address: string, name: string): string | null => {
  const next = new Map(labels.get());
  const key = address.toLowerCase();
  const label = cleaned(name);
  if (label === '') next.delete(key);
  else next.set(key, label);
  if (next.size > MOST_LABELS) return `Expected at most ${MOST_LABELS} labels: remove one first.`;
  labels.set(next);
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
