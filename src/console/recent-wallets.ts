import { hrefOf, isAddress, route, type View } from './route.ts';
import { settings } from './settings.ts';
import { createKept, credentials } from './state.ts';

/** The wallets that were opened last. */

const MOST = 12;

/** Addresses in lower case, the latest first. Where credentials are needed, they are forgotten with the tab, as the credentials are. */
export const recentWallets = createKept<readonly string[]>(
  settings.auth === 'open' ? localStorage : sessionStorage,
  'console:recent',
  (kept) => {
    const addresses = Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : [];
    return addresses.filter(isAddress).slice(0, MOST);
  },
);

export const forgetRecent = (): void => recentWallets.set([]);

/** What was shown last of a wallet; before that, the view that asks for one. */
let lastWallet = hrefOf('wallet');

/** A link to a view as it was left: to the last wallet, if it is the view of wallets. */
export const hrefOfLast = (view: View): string => (view === 'wallet' ? lastWallet : hrefOf(view));

const remember = (): void => {
  const { view, addresses } = route.get();
  if (view !== 'wallet' || addresses.length === 0) return;
  lastWallet = location.hash;
  const others = recentWallets.get().filter((address) => !addresses.includes(address));
  recentWallets.set([...addresses, ...others].slice(0, MOST));
};

remember();
route.subscribe(remember);
credentials.subscribe(() => {
  if (settings.auth !== 'open' && credentials.get().secret === null) forgetRecent();
});
