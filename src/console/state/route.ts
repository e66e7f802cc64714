import { createStore } from './store.ts';

export const VIEWS = ['wallet', 'live', 'webhooks', 'cost'] as const;
export type View = (typeof VIEWS)[number];

/** What the address bar names: `#/wallet/0x…,0x…` or `#/live?address=0x…`. */
export type Route = {
  readonly view: View;
  /** The addresses of wallets, in the order in which they stand side by side. */
  readonly addresses: readonly string[];
  readonly params: URLSearchParams;
};

const ADDRESS = /^0x[\da-f]{40}$/i;

export const isAddress = (text: string): boolean => ADDRESS.test(text);

const read = (): Route => {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', addresses = ''] = path.split('/');
  return {
    view: VIEWS.find((known) => known === view) ?? 'wallet',
    addresses: [...new Set(addresses.toLowerCase().split(',').filter(isAddress))],
    params: new URLSearchParams(query),
  };
};

export const route = createStore(read());
addEventListener('hashchange', () => route.set(read()));

export const hrefOf = (
  view: View,
  addresses: readonly string[] = [],
  params: Record<string, string> = {},
): string => {
  const query = new URLSearchParams(params).toString();
  return `#/${view}${addresses.length > 0 ? `/${addresses.join(',')}` : ''}${query ? `?${query}` : ''}`;
};

export const navigate = (href: string): void => {
  location.hash = href;
};
