import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { WalletActivity } from '../__generated__/operations.ts';
import { useChains } from '../chains.ts';
import { Empty, html, PricesOfNow, useReached } from '../components.ts';
import { counted, formatCount, formatDay, formatUsd, formatUsdBriefly } from '../format.ts';
import { setParams, useParam } from '../route.ts';
import { Export } from '../wallet/export.ts';
import {
  type Estimate,
  ListBody,
  ListHead,
  LoadAll,
  NotLoaded,
  type PanelProps,
  useWalletList,
  walletList,
} from '../wallet/list.ts';
import { ActivityFilter, type Chosen, clearChosen, useChosen } from './activity-filter.ts';
import {
  type ActivityItem,
  byWorth,
  type Found,
  filtered,
  type Happening,
  happeningsOf,
  largestTransfer,
  sumsOf,
  thinTokensOf,
} from './activity-model.ts';
import { type HappeningProps, HappeningRow } from './activity-row.ts';
import { activityRows } from './activity-rows.ts';
import { Sentence } from './activity-words.ts';
import { Year } from './activity-year.ts';
import { keepActivities } from './known.ts';

/** The service's page: each costs three compute units, however many of its items are asked for. */
const ITEMS_OF_A_REQUEST = 100;
export const UNITS_OF_A_REQUEST = 3;

const estimate = (shown: number, wanted: number): Estimate => {
  const requests = Math.ceil((wanted - shown) / ITEMS_OF_A_REQUEST);
  return { requests, computeUnits: requests * UNITS_OF_A_REQUEST };
};

/** Rows that are drawn at once: more of the loaded ones follow as they come near the window. */
const STEP = 60;

export const ACTIVITY = walletList(ITEMS_OF_A_REQUEST, WalletActivity, ({ wallet }) => wallet.activity);

/** What happened to a wallet, in words: by transaction and by day, newest first, unless another order is chosen. */
export const Activity = ({ address, chainIds }: PanelProps) => {
  const activity = useWalletList(ACTIVITY, { address, chainIds });
  const { nodes: items, hasMore } = activity;
  const happenings = useMemo(() => happeningsOf(items), [items]);
  useEffect(() => keepActivities(address, happenings, items, hasMore), [address, happenings, items, hasMore]);
  const thin = useMemo(() => thinTokensOf(items), [items]);
  const chains = useChains();
  const chosen = useChosen();
  const { filter, sort } = chosen;
  const key = JSON.stringify(filter);
  const found = useMemo(() => {
    const all = filtered(happenings, filter, thin);
    return sort === 'biggest' ? byWorth(all, thin) : sort === 'oldest' ? all.toReversed() : all;
  }, [happenings, thin, key, sort]);
  const [open] = useParam('open');
  const [limit, setLimit] = useState(STEP);
  const visible = Math.max(limit, found.findIndex(({ hash }) => hash === open) + 1);
  const showMore = useCallback(() => setLimit(visible + STEP), [visible]);
  const isCut = visible < found.length;
  const end = useReached(isCut, showMore);
  const pick = (day: string) => setParams({ from: day, to: day });
  return html`<div class="stack activity">
    <${ListHead} list=${activity}>
      <${LoadAll} list=${activity} what="activities" estimate=${estimate} />
      <${Export} list=${activity} what="activities" name=${`activity-${address}`} rowsOf=${() => activityRows(found, address, chains)} estimate=${estimate} />
    <//>
    ${
      items.length > 0 &&
      html`<div class="grid activity-top">
          <${Year} name=${`day-${address}`} happenings=${happenings} hasMore=${hasMore} from=${filter.from} to=${filter.to} onPick=${pick} />
          <${Summary} found=${found} happenings=${happenings} items=${items} thin=${thin} chosen=${chosen} hasMore=${hasMore} />
        </div>
        <${ActivityFilter} items=${items} chosen=${chosen} />`
    }
    <${ListBody} list=${activity} what="activities" kind="row" empty="No activity" price=${UNITS_OF_A_REQUEST} isPaused=${chosen.isActive || isCut}>
      <${Rows} shown=${isCut ? found.slice(0, visible) : found} happenings=${happenings} thin=${thin} address=${address} chainIds=${chainIds} isByDay=${sort !== 'biggest'} />
      ${isCut && html`<div class="stack tight quiet list-end" ref=${end}><button type="button" onClick=${showMore}>Show more of the ${transactions(found.length)}</button></div>`}
    <//>
  </div>`;
};

type SummaryProps = {
  found: readonly Found[];
  happenings: readonly Happening[];
  items: readonly ActivityItem[];
  thin: ReadonlySet<string>;
  chosen: Chosen;
  hasMore: boolean;
};

const transactions = (count: number): string => counted(count, 'transaction', 'transactions');

const Summary = ({ found, happenings, items, thin, chosen, hasMore }: SummaryProps) => {
  const sums = sumsOf(found, thin);
  const largest = largestTransfer(found, thin);
  const parts = [
    ['In', sums.in],
    ['Out', sums.out],
    ['Swapped', sums.swapped],
  ] as const;
  const matching = found.reduce((count, each) => count + each.matching.length, 0);
  return html`<div class="panel stack tight">
    <div class="bar">
      <p role="status"><strong>Showing ${formatCount(found.length)} of ${transactions(happenings.length)} loaded</strong>, with ${formatCount(matching)} of ${counted(items.length, 'activity', 'activities')}. ${hasMore ? 'The wallet has more.' : 'The wallet has no more.'}</p>
      ${chosen.isActive && html`<button type="button" class="more" onClick=${clearChosen}>Clear filter and sort</button>`}
    </div>
    <${PricesOfNow} chainIds=${found.map(({ chainId }) => chainId)} />
    <dl class="bar">
      ${parts.filter(([, sum]) => /[1-9]/.test(sum)).map(([name, sum]) => html`<div key=${name}><dt>${name}</dt><dd class=${name === 'In' ? 'good' : ''} title=${`${formatUsd(sum)}, by the prices that can be believed`}>${formatUsdBriefly(sum)}</dd></div>`)}
      ${
        largest &&
        html`<div><dt>Biggest transfer of these</dt><dd class="bar"><span><${Sentence} item=${largest.item} /></span><span title=${formatUsd(largest.worth)}>${formatUsdBriefly(largest.worth)}</span><button type="button" class="more" onClick=${() => setParams({ open: largest.hash })}>Open<span class="visually-hidden"> the biggest transfer</span></button></dd></div>`
      }
    </dl>
  </div>`;
};

type RowsProps = {
  shown: readonly Happening[];
  happenings: readonly Happening[];
  thin: ReadonlySet<string>;
  address: string;
  chainIds: readonly number[];
  isByDay: boolean;
};

const toggle = (hash: string, isOpen: boolean): void => setParams({ open: isOpen ? '' : hash });

/** The same element is not compared again, so that opening one row does not render a thousand others. */
const Row = (props: HappeningProps) =>
  useMemo(() => html`<${HappeningRow} ...${props} />`, Object.values(props));

const Rows = ({ shown, happenings, thin, address, chainIds, isByDay }: RowsProps) => {
  const [open] = useParam('open');
  const opened = happenings.find(({ hash }) => hash === open);
  const onChain = happenings.filter(({ chainId }) => chainId === opened?.chainId);
  const rowOf = (happening: Happening) => {
    const isOpen = happening.hash === open;
    const newer = isOpen ? onChain.findIndex(({ hash }) => hash === open) : 0;
    return html`<${Row} key=${happening.key} happening=${happening} address=${address} thin=${thin} isOpen=${isOpen} onToggle=${toggle} newer=${newer} withDay=${!isByDay} />`;
  };
  const rows = isByDay
    ? [...Map.groupBy(shown, ({ day }) => day)].map(
        ([day, group]) =>
          html`<section key=${day} class="stack tight day"><h3>${formatDay(day)} <span class="quiet small">${transactions(group.length)}</span></h3><ol class="rows">${group.map(rowOf)}</ol></section>`,
      )
    : html`<ol class="rows">${shown.map(rowOf)}</ol>`;
  return html`${!opened && html`<${NotLoaded} open=${open} address=${address} chainIds=${chainIds} />`}
    ${shown.length === 0 ? html`<${Empty} title="None of the loaded activities match.">Clear the filter, or load more.<//>` : rows}`;
};
