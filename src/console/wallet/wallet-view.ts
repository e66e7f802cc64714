import { useEffect } from 'preact/hooks';
import { html } from '../html.ts';
import { route } from '../state/route.ts';
import { useStore } from '../state/store.ts';
import { AddressForm } from './address-form.ts';
import { DemoWallets } from './demo-wallets.ts';
import { WalletPanel } from './wallet-panel.ts';
import { readWatched } from './watched.ts';

/** So many stand side by side. */
const MAX_WALLETS = 4;

/** The wallets that the address bar names, or where to begin when it names none. */
export const WalletView = () => {
  const addresses = useStore(route).addresses.slice(0, MAX_WALLETS);
  const hasWallets = addresses.length > 0;
  useEffect(() => {
    if (hasWallets) void readWatched();
  }, [hasWallets]);
  return html`<div class="stack wallets">
    <${AddressForm} shown=${addresses} most=${MAX_WALLETS} />
    ${
      hasWallets
        ? html`<div class="panels">
            ${addresses.map((address) => html`<${WalletPanel} key=${address} address=${address} shown=${addresses} />`)}
          </div>`
        : html`<${DemoWallets} />`
    }
  </div>`;
};
