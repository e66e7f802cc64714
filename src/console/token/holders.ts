import { useCallback, useState } from 'preact/hooks';
import {
  type TokenHolderFragment as Holder,
  TokenHolders,
  type TokenInput,
} from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { type LoadPage, useConnection } from '../api/use-connection.ts';
import { Avatar } from '../avatar.ts';
import { Meter } from '../charts.ts';
import { Address, Empty, html, LoadMore, Placeholder } from '../components.ts';
import { amountIn, formatCount, formatUtc } from '../format.ts';

const PAGE = 500;
const CU = 2;
const ROWS = 20;

type Props = { token: TokenInput; supply: string | null; decimals: number | null; symbol: string };

/** Who holds the token. Nothing is asked before a click, which says what it costs. */
export const Holders = (props: Props) => {
  const [isAsked, setAsked] = useState(false);
  return html`<section class="panel stack" aria-labelledby="token-holders">
    <div class="bar">
      <h3 id="token-holders">Holders</h3>
      ${!isAsked && html`<button type="button" class="push" onClick=${() => setAsked(true)}>Show the ${PAGE} largest<span class="price">${CU} CU</span></button>`}
    </div>
    ${isAsked ? html`<${Loaded} ...${props} />` : html`<p class="quiet">How the supply is spread over the largest wallets, and who they are.</p>`}
  </section>`;
};

const Loaded = ({ token, supply, decimals, symbol }: Props) => {
  const load = useCallback<LoadPage<Holder>>(
    async (after, signal) => {
      const { data, problems } = await send(TokenHolders, { token, first: PAGE, after }, signal);
      return { connection: data?.token?.holders ?? null, problems };
    },
    [token],
  );
  const list = useConnection(load);
  const [shown, setShown] = useState(ROWS);
  const { items, isLoading, problem, hasMore, retry } = list;
  if (items.length === 0)
    return html`<${Placeholder} rows=${4} isLoading=${isLoading} problem=${problem} onRetry=${retry}>
      <${Empty} title="The service lists no holder">It may not know the token, or not list holders on this chain: choose another chain above.<//>
    <//>`;
  const holders = items.map(({ node }) => node);
  const isDated = holders.some(({ firstAcquired }) => firstAcquired !== null);
  const amountOf = ({ balance }: Holder) => amountIn(balance, decimals ?? 0);
  return html`<${Distribution} holders=${holders} supply=${supply} isAll=${!hasMore} />
    <div class="table" tabindex="0" role="region" aria-label="Holders">
      <table class="as-list holders">
        <thead><tr><th scope="col" class="number">#</th><th scope="col">Wallet</th><th scope="col" class="number">Share</th><th scope="col" class="number">Balance</th>${isDated && html`<th scope="col">Since</th>`}</tr></thead>
        <tbody>${holders.slice(0, shown).map(
          (holder, index) => html`<tr key=${holder.wallet.address}>
            <td class="number quiet">${index + 1}</td>
            <td><span class="bar holder"><${Avatar} address=${holder.wallet.address} size=${20} /><${Address} value=${holder.wallet.address} />${holder.hasInitiatedTransfer === false && html`<span class="tag">never sent it</span>`}</span></td>
            <td class="number">${percentText(shareOf([holder], supply))}</td>
            <td class="number" title=${amountOf(holder).exact}>${amountOf(holder).shown}${decimals !== null && ` ${symbol}`}</td>
            ${isDated && html`<td class="quiet">${holder.firstAcquired && html`<time datetime=${holder.firstAcquired} title=${formatUtc(holder.firstAcquired)}>${day.format(new Date(holder.firstAcquired))}</time>`}</td>`}
          </tr>`,
        )}</tbody>
      </table>
    </div>
    ${shown < holders.length ? html`<div class="stack tight quiet list-end"><button type="button" onClick=${() => setShown(shown + 100)}>Show more of the ${formatCount(holders.length)}</button></div>` : html`<${LoadMore} list=${list} what="holders" price=${CU} isPaused />`}`;
};

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 2 });

const percentText = (share: number | null): string => {
  if (share === null) return '—';
  return share > 0 && share < 0.0001 ? '<0.01%' : percent.format(share);
};

const SCALE = 1_000_000n;

/** The part of the supply that these hold, exact to a millionth; null when the supply is not known. */
const shareOf = (holders: readonly Holder[], supply: string | null): number | null => {
  if (supply === null || BigInt(supply) === 0n) return null;
  const sum = holders.reduce((total, { balance }) => total + BigInt(balance), 0n);
  return Number((sum * SCALE) / BigInt(supply)) / Number(SCALE);
};

/** Ranks of holders, by which the supply is split: the largest alone, then up to the tenth, and so on. */
const TIERS = [1, 10, 50, 100, 500] as const;

type DistributionProps = { holders: readonly Holder[]; supply: string | null; isAll: boolean };

/** How much of the supply the largest holders have, by rank, and what is left for all others. */
const Distribution = ({ holders, supply, isAll }: DistributionProps) => {
  const known = shareOf(holders, supply);
  if (known === null)
    return html`<p class="quiet">The service does not say how many there are in all, so shares of the supply are not known.</p>`;
  const tiers = TIERS.flatMap((to, index) => {
    const from = TIERS[index - 1] ?? 0;
    if (from >= holders.length) return [];
    const last = Math.min(to, holders.length);
    const name =
      last === 1 ? 'The largest' : from + 1 === last ? `Rank ${last}` : `Ranks ${from + 1} to ${last}`;
    return [{ name, share: shareOf(holders.slice(from, to), supply) ?? 0 }];
  });
  // Holders whose balances changed while they were read may add up to more than there is.
  const others = isAll ? 0 : Math.max(0, 1 - known);
  const rows = others > 0 ? [...tiers, { name: 'All others', share: others }] : tiers;
  const most = Math.max(...rows.map(({ share }) => share));
  return html`<div class="stack tight tiers">
    ${rows.map(({ name, share }) => html`<${Meter} key=${name} label=${name} value=${share} most=${most} text=${percentText(share)} />`)}
  </div>`;
};
