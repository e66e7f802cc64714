import { html } from '../components.ts';
import { OwnLabels } from './own-labels.ts';
import { Samples } from './samples.ts';
import { Search } from './search.ts';

/** Where a visit starts: one field for all that can be looked up, and the wallets that are known. */
export const HomeView = () => html`<div class="stack start">
  <section class="panel stack" aria-labelledby="start-title">
    <h2 id="start-title">Look up a wallet or a token</h2>
    <${Search} name="start-search" label="Address, label, or a token’s name" />
    <p class="quiet">Several addresses, with commas between them, stand side by side. Nothing is searched before you press Enter, and prices are said before.</p>
  </section>
  <${Samples} />
  <${OwnLabels} />
</div>`;
