import { html } from '../html.ts';
import { settings } from '../settings.ts';
import { hrefOf } from '../state/route.ts';

/** The sandbox's wallets, to begin with. Over a real service there are none. */
export const DemoWallets = () =>
  settings.wallets.length > 0 &&
  html`<section class="panel stack" aria-labelledby="demo-wallets">
    <h2 id="demo-wallets">Wallets of the sandbox</h2>
    <ul class="demo-wallets">
      ${settings.wallets.map(
        ({ name, address, shows }) =>
          html`<li key=${address}><a href=${hrefOf('wallet', [address])}>${name}</a> <span class="quiet">${shows.replaceAll('`', '')}</span></li>`,
      )}
    </ul>
  </section>`;
