import { useEffect, useState } from 'preact/hooks';
import { WalletValue, type WalletValueQuery } from '../__generated__/operations.ts';
import { send, titleOf } from '../api/client.ts';
import { Avatar } from '../avatar.ts';
import { Sparkline } from '../charts.ts';
import { html } from '../components.ts';
import { usePrice } from '../cost/prices.ts';
import { formatCount, formatUsd, shortHex } from '../format.ts';
import { useLabel } from '../labels.ts';
import { forgetRecent, recentWallets } from '../recent-wallets.ts';
import { hrefOf } from '../route.ts';
import { createStore, credentials, useStore } from '../state.ts';
import { ChangeOf } from '../token/price-history.ts';
import { isUnpriced } from '../wallet/thin-pools.ts';
import { readWatched, useWatched } from '../wallet/watched.ts';

type Portfolio = NonNullable<WalletValueQuery['wallet']['portfolio']>;
type Value = Portfolio | { readonly failed: string } | 'loading';

/** What wallets are worth, as far as it was asked for during the visit. */
const values = createStore<ReadonlyMap<string, Value>>(new Map());

credentials.subscribe(() => values.set(new Map()));

const setValue = (address: string, value: Value): void => {
  values.set(new Map(values.get()).set(address, value));
};

const ask = async (address: string): Promise<void> => {
  const caller = credentials.get();
  setValue(address, 'loading');
  const { data, problems } = await send(WalletValue, { address });
  if (credentials.get() !== caller) return;
  const [problem] = problems;
  setValue(
    address,
    data?.wallet.portfolio ?? { failed: problem ? titleOf(problem) : 'The service did not say' },
  );
};

/** One after another: each looks at many chains. */
const askAll = async (addresses: readonly string[]): Promise<void> => {
  for (const address of addresses) await ask(address);
};

const SHOWN = 8;

/** The wallets that are watched or were opened last. What they are worth is asked for on a click, which says its price. */
export const KnownWallets = () => {
  const recent = useStore(recentWallets);
  const watched = useWatched();
  const known = useStore(values);
  const { computeUnits } = usePrice(['balances'], []);
  const [isWhole, setWhole] = useState(false);
  useEffect(() => void readWatched(), []);
  const all = [...new Set([...watched, ...recent])];
  if (all.length === 0) return null;
  const shown = isWhole ? all : all.slice(0, SHOWN);
  const missing = shown.filter((address) => !known.has(address));
  const asked = missing.length > 0 ? missing : shown;
  const price = computeUnits === null ? '' : `${formatCount(asked.length * computeUnits)} CU`;
  return html`<section class="panel stack" aria-labelledby="known-wallets">
    <div class="bar">
      <h2 id="known-wallets">${watched.length === 0 ? 'Recent wallets' : recent.length === 0 ? 'Watched wallets' : 'Watched and recent wallets'}</h2>
      <span class="bar push">
        <button type="button" disabled=${[...known.values()].includes('loading')} onClick=${() => void askAll(asked)}>${missing.length > 0 ? 'Show what they are worth' : 'Refresh'}${price && html`<span class="price">${price}</span>`}</button>
        ${recent.length > 0 && html`<button type="button" onClick=${forgetRecent}>Forget recent</button>`}
      </span>
    </div>
    <ul class="known">${shown.map((address) => html`<${Known} key=${address} address=${address} isWatched=${watched.includes(address)} value=${known.get(address)} />`)}</ul>
    ${shown.length < all.length && html`<button type="button" onClick=${() => setWhole(true)}>Show ${all.length - shown.length} more</button>`}
  </section>`;
};

type KnownProps = { address: string; isWatched: boolean; value: Value | undefined };

const Known = ({ address, isWatched, value }: KnownProps) => {
  const label = useLabel(address);
  return html`<li class="in-columns">
    <${Avatar} address=${address} size=${36} />
    <div>
      <a class="strong" href=${hrefOf('wallet', [address])}>${label ?? shortHex(address)}</a>
      ${isWatched && html` <span class="tag good">Watching</span>`}
      ${label !== null && html`<p class="quiet">${shortHex(address)}</p>`}
    </div>
    <div class="bar worth"><${Worth} value=${value} /></div>
  </li>`;
};

const Worth = ({ value }: { value: Value | undefined }) => {
  if (value === undefined) return null;
  if (value === 'loading') return html`<span class="quiet" role="status">Asking…</span>`;
  if ('failed' in value) return html`<span class="bad">${value.failed}</span>`;
  const { totalUsd, isComplete, change } = value;
  const earlier = (change ?? [])
    .filter(({ changeRatio }) => changeRatio !== null)
    .toSorted((one, other) => other.hoursAgo - one.hoursAgo);
  const day = earlier.find(({ hoursAgo }) => hoursAgo === 24);
  const line = [...earlier, { totalUsd }].map((each) => Number(each.totalUsd));
  return html`
    ${line.length > 1 && html`<${Sparkline} label="In the last 7 days, in dollars" values=${line} />`}
    <p title="Balances with a price, without DeFi positions">
      <strong>${isUnpriced(value) ? 'Unpriced' : `${isComplete ? '' : 'at least '}${formatUsd(totalUsd)}`}</strong>
      ${day && html`<span><${ChangeOf} hoursAgo=${24} ratio=${day.changeRatio} /></span>`}
    </p>`;
};
