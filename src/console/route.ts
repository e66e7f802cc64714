import { createStore, useStore } from './state.ts';

export const VIEWS = ['home', 'wallet', 'token', 'live', 'webhooks', 'cost'] as const;
export type View = (typeof VIEWS)[number];

/** What the address bar names: `#/wallet/0x…,0x…?tab=tokens` or `#/live?address=0x…`. */
export type Route = {
  readonly view: View;
  /** The parts of the path behind the view, which commas separate. */
  readonly path: readonly string[];
  /** Those parts that are addresses, in lower case and each once, in the order in which wallets stand side by side. */
  readonly addresses: readonly string[];
  readonly params: URLSearchParams;
};

const ADDRESS = /^0x[\da-f]{40}$/i;

export const isAddress = (text: string): boolean => ADDRESS.test(text);

const read = (): Route => {
  const [place = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', ...rest] = place.split('/');
  const path = rest.join('/').split(',').filter(Boolean);
  return {
    view: VIEWS.find((known) => known === view) ?? 'home',
    path,
    addresses: [...new Set(path.map((part) => part.toLowerCase()).filter(isAddress))],
    params: new URLSearchParams(query),
  };
};

export const route = createStore(read());
addEventListener('hashchange', () => route.set(read()));

/** A link to a view: `hrefOf('wallet', [address], { tab: 'tokens' })`. */
export const hrefOf = (
  view: View,
  path: readonly string[] = [],
  params: Record<string, string> = {},
): string => {
  const query = new URLSearchParams(params).toString();
  return `#/${view === 'home' ? '' : view}${path.length > 0 ? `/${path.join(',')}` : ''}${query ? `?${query}` : ''}`;
};

/** Goes to a link, which Back returns from. */
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

/** Changes several parameters of the address bar at once; see `useParam`. */
export const setParams = (changes: Readonly<Record<string, string>>, push = false): void => {
  const { view, path, params } = read();
  for (const [name, value] of Object.entries(changes))
    if (value === '') params.delete(name);
    else params.set(name, value);
  const href = hrefOf(view, path, Object.fromEntries(params));
  if (push) history.pushState(null, '', href);
  else history.replaceState(history.state, '', href);
  route.set(read());
};
