import { isRecord, shorten } from './format.ts';
import { createStore, credentials, useStore } from './state.ts';

export const VIEWS = ['home', 'wallet', 'tx', 'token', 'live', 'webhooks', 'cost'] as const;
export type View = (typeof VIEWS)[number];

/** What the address bar names: `#/wallet/0x…,0x…?tab=tokens`, `#/tx/1/0x…?wallet=0x…` or `#/live?address=0x…`. */
export type Route = {
  readonly view: View;
  /** The parts of the path behind the view, which commas separate. */
  readonly path: readonly string[];
  /** Those parts that are addresses, in lower case and each once, in the order in which wallets stand side by side. One in mixed case is not among them: its checksum is checked first. */
  readonly addresses: readonly string[];
  readonly params: URLSearchParams;
  /** Where the page was when it was left, if Back or Forward leads to it again; null for a page that is new. */
  readonly place: Place | null;
};

/** What stood at the top of the window: an item of the page's lists, and its distance from the top. */
type Place = { readonly scrolled: number; readonly item: number; readonly top: number };

const ADDRESS = /^0x[\da-f]{40}$/i;

export const isAddress = (text: string): boolean => ADDRESS.test(text);
export const isHash = (text: string): boolean => /^0x[\da-f]{64}$/i.test(text);

/** Whether an address is in mixed case, and so has a checksum, which the gateway checks. */
export const isMixed = (address: string): boolean =>
  /[a-f]/.test(address.slice(2)) && /[A-F]/.test(address.slice(2));

/** What a text is that is no address, as the end of a sentence. `quoted` says any other text. */
export const insteadOfAddress = (text: string, quoted = JSON.stringify(shorten(text, 50))): string => {
  if (text === '') return 'nothing';
  const digits = /^0x([\da-f]*)$/i.exec(text)?.[1];
  return digits === undefined ? quoted : `0x and ${digits.length} hex digits`;
};

/** Why a text is no address, as a sentence; null for one that is. */
export const wrongAddress = (text: string): string | null =>
  isAddress(text) ? null : `Expected an address, 0x and 40 hex digits, got ${insteadOfAddress(text)}.`;

export const MOST_WALLETS = 4;

const read = (place: Place | null): Route => {
  const [hash = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', ...rest] = hash.split('/');
  const path = rest.join('/').split(',').filter(Boolean);
  return {
    view: VIEWS.find((known) => known === view) ?? 'home',
    path,
    addresses: [
      ...new Set(path.filter((part) => isAddress(part) && !isMixed(part)).map((part) => part.toLowerCase())),
    ],
    params: new URLSearchParams(query),
    place,
  };
};

/** A link to a view: `hrefOf('wallet', [address], { tab: 'tokens' })`. */
export const hrefOf = (
  view: View,
  path: readonly string[] = [],
  params: Record<string, string> = {},
): string => {
  // Commas stay as they are: `chains=1,8453`.
  const query = new URLSearchParams(params).toString().replaceAll('%2C', ',');
  return `#/${view === 'home' ? '' : view}${path.length > 0 ? `/${path.join(',')}` : ''}${query ? `?${query}` : ''}`;
};

export const route = createStore(read(null));

/** Where each entry of the browser's history was left, by the key in its state. */
const places = new Map<string, Place>();

const items = (): Element[] => [...document.querySelectorAll('main li')];

/** Rows that the window has never shown have an estimated height, so the scrolled distance alone would lead elsewhere. */
const presentPlace = (): Place => {
  const tops = items().map((item) => item.getBoundingClientRect().top);
  const item = tops.findIndex((top) => top > 0);
  return { scrolled: scrollY, item, top: tops[item] ?? 0 };
};

/** Scrolls to where the page was. Items outside of the window have their full height until that is done. */
export const returnTo = ({ scrolled, item, top }: Place): void => {
  const { classList } = document.documentElement;
  classList.add('is-returning');
  scrollTo(0, scrolled);
  const found = items()[item];
  if (found) scrollBy(0, found.getBoundingClientRect().top - top);
  requestAnimationFrame(() => requestAnimationFrame(() => classList.remove('is-returning')));
};

const keyIn = (state: unknown): string | null =>
  isRecord(state) && 'key' in state ? String(state.key) : null;

/** Gives the present entry of the history a key. */
const beginEntry = (): string => {
  const key = String(performance.timeOrigin + performance.now());
  history.replaceState({ key }, '');
  return key;
};

// The browser would scroll before the lists are there.
history.scrollRestoration = 'manual';
let entry = keyIn(history.state) ?? beginEntry();

addEventListener('hashchange', () => {
  places.set(entry, presentPlace());
  const known = keyIn(history.state);
  entry = known ?? beginEntry();
  route.set(read(known === null ? null : (places.get(known) ?? null)));
});

export const navigate = (href: string): void => {
  location.hash = href;
};

/**
 * A parameter of the address bar, and a function that changes it: an empty value removes it. The change replaces the
 * entry in the browser's history, unless `push` is set: then Back undoes it.
 */
export const useParam = (name: string): [value: string, set: (value: string, push?: boolean) => void] => {
  const { params } = useStore(route);
  return [params.get(name) ?? '', (value, push = false) => setParams({ [name]: value }, push)];
};

export const replacePart = (part: string, by: string): void => {
  const { view, path, params } = read(null);
  const next = path.map((each) => (each === part ? by : each));
  history.replaceState(history.state, '', hrefOf(view, next, Object.fromEntries(params)));
  route.set(read(null));
};

/** Changes several parameters of the address bar at once; see `useParam`. */
export const setParams = (changes: Readonly<Record<string, string>>, push = false): void => {
  const { view, path, params } = read(null);
  for (const [name, value] of Object.entries(changes))
    if (value === '') params.delete(name);
    else params.set(name, value);
  const href = hrefOf(view, path, Object.fromEntries(params));
  if (push) {
    places.set(entry, presentPlace());
    history.pushState(null, '', href);
    entry = beginEntry();
  } else history.replaceState(history.state, '', href);
  route.set(read(null));
};

const MOST_KEPT = 8;

/** Kept values, by a name that the caller chooses. */
export type Memory<Value> = {
  /** The kept value, if Back or Forward has led here; null for a page that is new. */
  recall(name: string): Value | null;
  keep(name: string, value: Value): void;
};

/** Keeps the last eight values while the page and its credentials last, so that Back shows them without a request. */
export const createMemory = <Value>(): Memory<Value> => {
  const kept = new Map<string, Value>();
  // Another caller may see other things.
  credentials.subscribe(() => kept.clear());
  return {
    recall: (name) => (route.get().place === null ? null : (kept.get(name) ?? null)),
    keep(name, value) {
      kept.delete(name);
      kept.set(name, value);
      const [oldest] = kept.keys();
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    },
  };
};
