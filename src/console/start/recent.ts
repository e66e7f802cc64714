import { isAddress, route } from '../route.ts';
import { settings } from '../settings.ts';
import { createStore, credentials } from '../state.ts';

/** The wallets that were opened last. */

const KEY = 'console:recent';
const MOST = 12;

/** Where credentials are asked for, what they were used for is forgotten with the tab, as they are. */
const storage = settings.auth === 'open' ? localStorage : sessionStorage;

const load = (): readonly string[] => {
  try {
    const kept: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    const addresses = Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : [];
    return addresses.filter(isAddress).slice(0, MOST);
  } catch {
    return [];
  }
};

/** Addresses in lower case, the latest first. */
export const recentWallets = createStore(load());

const keep = (addresses: readonly string[]): void => {
  recentWallets.set(addresses);
  try {
    storage.setItem(KEY, JSON.stringify(addresses));
  } catch {
    // They last as long as the page.
  }
};

const forgetRecent = (): void => keep([]);

const remember = (): void => {
  const { view, addresses } = route.get();
  if (view !== 'wallet' || addresses.length === 0) return;
  const others = recentWallets.get().filter((address) => !addresses.includes(address));
  keep([...addresses, ...others].slice(0, MOST));
};

remember();
route.subscribe(remember);
credentials.subscribe(() => {
  if (settings.auth !== 'open' && credentials.get().secret === null) forgetRecent();
});
