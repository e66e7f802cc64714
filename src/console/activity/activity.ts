import type { VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { WalletActivity } from '../__generated__/operations.ts';
import { useChains } from '../chains.ts';
import { Empty, html, PricesOfNow, useReached } from '../components.ts';
import { counted, formatCount, formatDay, formatUsd, formatUsdBriefly } from '../format.ts';
import { setParams, useParam } from '../route.ts';
import { Export } from '../wallet/export.ts';
import { type Estimate, ListBody, ListHead, LoadAll, NotLoaded } from '../wallet/list.ts';
import { type PanelProps, useWalletList, walletList } from '../wallet/use-wallet-list.ts';
import { ActivityFilter, type Chosen, clearChosen, setFilter, useChosen } from './activity-filter.ts';
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
import { HappeningRow } from './activity-row.ts';
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

export const ACTIVITY = walletList({
  pageSize: ITEMS_OF_A_REQUEST,
  operation: WalletActivity,
  pageIn: ({ wallet }) => wallet.activity,
});

/** What happened to a wallet, in words: by transaction and by day, newest first, unless another order is chosen. */
export const Activity = ({ address, chainIds }: PanelProps) => {
  const activity = useWalletList(ACTIVITY, { address, chainIds });
  const { list, nodes: items } = activity;
  const happenings = useMemo(() => happeningsOf(items), [items]);
  useEffect(
    () => keepActivities(address, happenings, items, list.hasMore),
    [address, happenings, items, list.hasMore],
  );
  const thin = useMemo(() => thinTokensOf(items), [items]);
  const chains = useChains();
  const chosen = useChosen();
  const { filter, sort } = chosen;
  const key = JSON.stringify(filter);
  const found = useMemo(() => {
    const all = filtered(happenings, filter, thin);
    return sort === 'biggest' ? byWorth(all, thin) : sort === 'oldest' ? all.toReversed() : all;
  }, [happenings, thin, key, sort]);
  const shown = useMemo(() => found.map(({ happening }) => happening), [found]);
  const [open] = useParam('open');
  const [limit, setLimit] = useState(STEP);
  const visible = Math.max(limit, shown.findIndex(({ hash }) => hash === open) + 1);
  const showMore = useCallback(() => setLimit(visible + STEP), [visible]);
  const isCut = visible < shown.length;
  const end = useReached(isCut, showMore);
  const pick = (day: string) => setFilter({ from: day, to: day });
  return html`<div class="stack activity">
    <${ListHead} list=${activity}>
      <${LoadAll} list=${activity} what="activities" estimate=${estimate} />
      <${Export} list=${activity} what="activities" isFiltered=${found.length < happenings.length} name=${`activity-${address}`} rowsOf=${() => activityRows(shown, address, chains)} estimate=${estimate} />
    <//>
    ${
      items.length > 0 &&
      html`<div class="activity-top">
          <${Year} name=${`day-${address}`} happenings=${happenings} hasMore=${list.hasMore} from=${filter.from} to=${filter.to} onPick=${pick} />
          <${Summary} found=${found} happenings=${happenings} items=${items} thin=${thin} chosen=${chosen} hasMore=${list.hasMore} />
        </div>
        <${ActivityFilter} items=${items} chosen=${chosen} />`
    }
    <${ListBody} list=${activity} what="activities" kind="row" empty="No activity" price=${UNITS_OF_A_REQUEST} isPaused=${chosen.isActive || isCut}>
      <${Rows} shown=${isCut ? shown.slice(0, visible) : shown} happenings=${happenings} thin=${thin} address=${address} chainIds=${chainIds} isByDay=${sort !== 'biggest'} />
      ${isCut && html`<div class="stack tight quiet list-end" ref=${end}><button type="button" onClick=${showMore}>Show more of the ${transactions(shown.length)}</button></div>`}
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
  const [, setOpen] = useParam('open');
  const sums = sumsOf(found, thin);
  const largest = largestTransfer(found, thin);
  const parts = [
    ['In', sums.in],
    ['Out', sums.out],
    ['Swapped', sums.swapped],
  ] as const;
  const isAll = found.length === happenings.length;
  const matching = found.reduce((count, each) => count + each.items.length, 0);
  const isOne = happenings.length === 1;
  const ofAll = `${isOne ? 'its' : 'their'} ${counted(items.length, 'activity', 'activities')}`;
  return html`<div class="stack tight activity-summary">
    <div class="bar">
      <p role="status"><strong>${isAll && isOne ? 'The' : `${isAll ? 'All' : formatCount(found.length)} of the`} ${transactions(happenings.length)} loaded</strong>, with ${matching === items.length ? (items.length === 1 ? '' : 'all ') : `${formatCount(matching)} `}${matching === items.length && items.length === 1 ? '' : 'of '}${ofAll}.${hasMore ? ' The wallet has more.' : ' It has no more.'}</p>
      ${chosen.isActive && html`<button type="button" class="more" onClick=${clearChosen}>Clear filter and sort</button>`}
    </div>
    <${PricesOfNow} chainIds=${found.map(({ happening }) => happening.chainId)} />
    <dl class="bar">
      ${parts.filter(([, sum]) => /[1-9]/.test(sum)).map(([name, sum]) => html`<div key=${name}><dt>${name}</dt><dd class=${name === 'In' ? 'good' : ''} title=${`${formatUsd(sum)}, by the prices that can be believed`}>${formatUsdBriefly(sum)}</dd></div>`)}
      ${
        largest &&
        html`<div><dt>Biggest transfer of these</dt><dd class="bar"><span><${Sentence} item=${largest.item} /></span><span title=${formatUsd(largest.item.valueUsd ?? '0')}>${formatUsdBriefly(largest.item.valueUsd ?? '0')}</span><button type="button" class="more" onClick=${() => setOpen(largest.happening.hash)}>Open<span class="visually-hidden"> the biggest transfer</span></button></dd></div>`
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

/** How many loaded transactions of its chain are newer than each one. */
const newerOnChain = (happenings: readonly Happening[]): ReadonlyMap<string, number> => {
  const counts = new Map<number, number>();
  return new Map(
    happenings.map(({ key, chainId }) => {
      const newer = counts.get(chainId) ?? 0;
      counts.set(chainId, newer + 1);
      return [key, newer];
    }),
  );
};

const toggle = (hash: string, isOpen: boolean): void => setParams({ open: isOpen ? '' : hash });

const Rows = ({ shown, happenings, thin, address, chainIds, isByDay }: RowsProps) => {
  const [open] = useParam('open');
  const newer = useMemo(() => newerOnChain(happenings), [happenings]);
  const drawn = useRef(new Map<string, { readonly from: readonly unknown[]; readonly row: VNode }>());
  const rowOf = (happening: Happening): VNode => {
    const { key, hash } = happening;
    const from = [happening, thin, address, hash === open, newer.get(key) ?? 0, isByDay] as const;
    const known = drawn.current.get(key);
    // The same element is not compared again, so opening one row does not render a thousand others.
    if (known?.from.every((value, index) => value === from[index])) return known.row;
    const row = html`<${HappeningRow} key=${key} happening=${happening} address=${address} thin=${thin} isOpen=${from[3]} onToggle=${toggle} newer=${from[4]} withDay=${!isByDay} />`;
    drawn.current.set(key, { from, row });
    return row;
  };
  const rows = isByDay
    ? [...Map.groupBy(shown, ({ day }) => day)].map(
        ([day, group]) =>
          html`<section key=${day} class="stack tight day"><h3>${formatDay(day)} <span class="quiet">${transactions(group.length)}</span></h3><ol class="rows">${group.map(rowOf)}</ol></section>`,
      )
    : html`<ol class="rows">${shown.map(rowOf)}</ol>`;
  const isMissing = happenings.length > 0 && !happenings.some(({ hash }) => hash === open);
  return html`${isMissing && html`<${NotLoaded} open=${open} address=${address} chainIds=${chainIds} />`}
    ${shown.length === 0 ? html`<${Empty} title="None of the loaded activities match.">Clear the filter, or load more.<//>` : rows}`;
};
