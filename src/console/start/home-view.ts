import { Avatar } from '../avatar.ts';
import { isSupported, useChains } from '../chains.ts';
import { html } from '../components.ts';
import { type Priced, PriceTag } from '../cost/prices.ts';
import { labelOf, useLabels } from '../labels.ts';
import { hrefOf } from '../route.ts';
import { settings } from '../settings.ts';
import { IndexedChains } from './indexed-chains.ts';
import { OwnLabels } from './own-labels.ts';
import { KnownWallets } from './recent.ts';
import { Search } from './search.ts';

/** Where a visit starts: one field for all that can be looked up, and the wallets that are known. */
export const HomeView = () => {
  const opening: readonly Priced[] = isSupported(useChains(), 'NAMES') ? ['balances', 'name'] : ['balances'];
  return html`<div class="stack">
  <section class="panel stack" aria-labelledby="start-title">
    <h2 id="start-title">Look up a wallet, a token or a transaction</h2>
    <${Search} name="start-search" label="Address, label, a token’s name, or a transaction’s hash" />
    <p class="quiet">Typing costs nothing. Opening a wallet costs <${PriceTag} of=${opening} />, and more beyond 1,000 tokens. Paste two to four addresses to compare wallets side by side.</p>
  </section>
  <${IndexedChains} />
  <${KnownWallets} />
  <${Samples} />
  <${OwnLabels} />
</div>`;
};

/** The samples that lead, by the sandbox's names, with what a person sees in them first. */
const LEADING: readonly (readonly [name: string, shows: string])[] = [
  ['whale', 'Thousands of transactions and balances, over nine chains'],
  ['collector', 'Three thousand collectibles, minted in batches'],
  ['defi', 'Supplied, borrowed, staked: a position of every type, and a debt'],
  ['swapper', 'Swaps one token for another, live'],
  ['thin', 'Tokens with absurd prices: what a total must leave out'],
  ['metronome', 'Moves in every block: watch it and look at Live'],
];

/** The sandbox's wallets. A real service has no samples. */
const Samples = () => {
  useLabels();
  if (settings.wallets.length === 0) return null;
  const leading = LEADING.flatMap(([name, shows]) => {
    const sample = settings.wallets.find((each) => each.name === name);
    return sample ? [{ ...sample, shows }] : [];
  });
  const others = settings.wallets.filter(({ name }) => !LEADING.some(([leads]) => leads === name));
  return html`<section class="panel stack" aria-labelledby="samples">
    <h2 id="samples">Sample wallets of the sandbox</h2>
    <p>Its chains are simulated: to see real wallets, start the gateway with <code>BLOCKSCOUT=1,8453</code> and a free <code>BLOCKSCOUT_API_KEY</code> for public chains, with <code>CHAINS</code> for nodes of your own, or with <code>UPSTREAM_URL</code> for another service.</p>
    <ul class="grid">${leading.map(
      ({ address, shows }) => html`<li key=${address} class="panel line sample">
        <${Avatar} address=${address} size=${44} />
        <div>
          <a class="strong" href=${hrefOf('wallet', [address])}>${labelOf(address)}</a>
          <p class="quiet small">${shows}</p>
        </div>
      </li>`,
    )}</ul>
    <details>
      <summary>${others.length} more, one for each special case</summary>
      <ul class="grid small" style="--column: 17rem">${others.map(({ address, shows }) => html`<li key=${address}><a href=${hrefOf('wallet', [address])}>${labelOf(address)}</a> <span class="quiet">${shows.replaceAll('`', '')}</span></li>`)}</ul>
    </details>
  </section>`;
};
