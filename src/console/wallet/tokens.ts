import { compareDecimals, sumDecimals } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type BalanceRowFragment, WalletBalances } from '../__generated__/operations.ts';
import { decimalsOf, symbolOf } from '../activity/activity-model.ts';
import { amountOf } from '../activity/activity-words.ts';
import { keepToken } from '../activity/known.ts';
import { NoPrices } from '../chain-filter.ts';
import { OnChain, useChainNames } from '../chains.ts';
import { CopyButton, Empty, ExplorerLink, html } from '../components.ts';
import { usePrice } from '../cost/prices.ts';
import {
  counted,
  formatChange,
  formatCount,
  formatUsd,
  formatUsdBriefly,
  shorten,
  shortHex,
} from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { useParam } from '../route.ts';
import { Export, type Row as FileRow, plainUnits } from './export.ts';
import { ListBody, ListHead } from './list.ts';
import { isThin, isUnpriced, MIN_POOL_SIZE_USD } from './thin-pools.ts';
import { type PanelProps, useWalletList, walletList } from './use-wallet-list.ts';

type Balance = BalanceRowFragment;

/** Why a balance is not in the total; null for one that is. */
const reasonOf = ({ valueUsd, token, lowLiquidity, poolSizeUsd }: Balance): string | null => {
  if (valueUsd === null) return 'The service states no price.';
  if (!isThin({ ...token, lowLiquidity, poolSizeUsd })) return null;
  return poolSizeUsd === null
    ? 'The service says that little liquidity is behind its price, and names no pool.'
    : `Its price comes from a pool of ${formatUsd(poolSizeUsd)}, below ${formatUsd(MIN_POOL_SIZE_USD)}.`;
};

type Row = {
  readonly balance: Balance;
  readonly symbol: string;
  readonly chain: string;
  readonly change: string | null;
  readonly reason: string | null;
};

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

type Column = {
  readonly id: string;
  readonly title: string;
  readonly isNumber: boolean;
  /** Null for a row without a value, which stays last in both orders. */
  readonly key: (row: Row) => string | null;
};

/** The column that sorts where none is chosen. */
const VALUE: Column = { id: 'value', title: 'Value', isNumber: true, key: ({ balance }) => balance.valueUsd };

/** The columns that sort. */
const COLUMNS: readonly Column[] = [
  { id: 'token', title: 'Token', isNumber: false, key: ({ symbol }) => symbol.toLowerCase() },
  { id: 'chain', title: 'Chain', isNumber: false, key: ({ chain }) => chain.toLowerCase() },
  { id: 'price', title: 'Price', isNumber: true, key: ({ balance }) => balance.priceUsd },
  { id: 'change', title: '24 h', isNumber: true, key: ({ change }) => change },
  VALUE,
];

/** `price` or, the other way round, `-price`: names begin with A, numbers with the largest. */
const sorted = (rows: readonly Row[], by: string): readonly Row[] => {
  const { key: keyOf, isNumber } = COLUMNS.find(({ id }) => id === by.replace(/^-/, '')) ?? VALUE;
  const turn = (by.startsWith('-') ? -1 : 1) * (isNumber ? -1 : 1);
  const compare = isNumber ? compareDecimals : compareText;
  return rows
    .map((row) => ({ row, key: keyOf(row), size: Number(keyOf(row)) }))
    .toSorted((one, other) => {
      if (one.key === null || other.key === null)
        return Number(one.key === null) - Number(other.key === null);
      // Decimals are as their rounded numbers unless those are equal: exact comparisons of thousands would be seen.
      return turn * (one.size - other.size || compare(one.key, other.key));
    })
    .map(({ row }) => row);
};

const useRows = (balances: readonly Balance[]): readonly Row[] => {
  const nameOf = useChainNames();
  return useMemo(
    () =>
      balances.map((balance) => ({
        balance,
        symbol: symbolOf(balance.token, balance.chainId),
        chain: nameOf(balance.chainId),
        change: balance.priceHistory?.find(({ hoursAgo }) => hoursAgo === 24)?.changeRatio ?? null,
        reason: reasonOf(balance),
      })),
    [balances, nameOf],
  );
};

const matches = ({ balance, symbol, chain }: Row, sought: string): boolean =>
  [symbol, balance.token.name, balance.token.address, chain].some((said) =>
    said?.toLowerCase().includes(sought),
  );

const TOKENS = walletList({
  // The service's largest page: the whole wallet, but for a few.
  pageSize: 1000,
  operation: WalletBalances,
  pageIn: ({ wallet }) => wallet.balances,
});

/** What the wallet holds, which of it counts towards the total, and why the rest does not. */
export const Tokens = ({ address, chainIds }: PanelProps) => {
  const balances = useWalletList(TOKENS, { address, chainIds });
  useEffect(() => {
    for (const { token, chainId } of balances.nodes) if (chainId !== null) keepToken({ ...token, chainId });
  }, [balances.nodes]);
  const { list, nodes } = balances;
  const { computeUnits } = usePrice(['balances'], chainIds);
  const rows = useRows(nodes);
  const [find, setFind] = useParam('find');
  const [by, setBy] = useParam('by');
  const [only, setOnly] = useParam('only');
  const sought = find.trim().toLowerCase();
  const found = useMemo(
    () => sorted(sought === '' ? rows : rows.filter((row) => matches(row, sought)), by),
    [rows, sought, by],
  );
  const total = useMemo(() => totalOf(rows), [rows]);
  const counted = found.filter(({ reason }) => reason === null);
  const left = found.filter(({ reason }) => reason !== null);
  const section = (title: ComponentChildren, part: readonly Row[], isLeft: boolean) =>
    html`<${TokenTable} title=${title} rows=${part} total=${total} by=${by} onSort=${setBy} isLeft=${isLeft} />`;
  return html`<div class="stack tokens">
    <${ListHead} list=${balances}>
      <${Export} list=${balances} what="tokens" isFiltered=${sought !== '' || only !== ''} name=${`tokens-${address}`} rowsOf=${() => [...counted, ...left].filter(({ reason }) => only === '' || (only === 'left') === (reason !== null)).map((row) => fileRow(row, address, balances.newest?.requestTime ?? null))} estimate=${(shown: number) => ({ requests: 1, computeUnits: shown > 0 ? (computeUnits ?? 0) * MOST_PAGES : 0 })} />
    <//>
    <${ListBody} list=${balances} what="tokens" kind="row" empty="No token" isPaused=${true}>
      <${TokensSummary} rows=${found} loaded=${rows.length} hasMore=${list.hasMore} only=${only} onOnly=${setOnly} />
      <div class="token-tools"><label class="field">Search
        <input type="search" value=${find} placeholder="symbol, name, address or chain" spellcheck=${false} autocomplete="off" onInput=${(event: Event) => setFind((event.currentTarget as HTMLInputElement).value)} />
      </label>
      <label class="field token-order">Sort
        <select value=${by === '' ? 'value' : by} onChange=${(event: Event) => setBy((event.currentTarget as HTMLSelectElement).value)}>
          ${COLUMNS.flatMap(({ id, title }) => [id, `-${id}`].map((order) => html`<option key=${order} value=${order}>${title}${order === id ? '' : ', reversed'}</option>`))}
        </select>
      </label></div>
      ${found.length === 0 && html`<${Empty} title=${`None of the ${formatCount(rows.length)} tokens is called so.`}>Search for a part of a symbol, a name, an address or a chain.<//>`}
      ${only !== 'left' && counted.length > 0 && section(`In the total: ${formatCount(counted.length)}`, counted, false)}
      ${only !== 'counted' && left.length > 0 && section(`Left out of the total: ${formatCount(left.length)}`, left, true)}
    <//>
  </div>`;
};

/** The pages that a file may take beyond the first. */
const MOST_PAGES = 4;

const fileRow = ({ balance, symbol, chain, reason }: Row, address: string, asOf: string | null): FileRow => {
  const { chainId, amount, priceUsd, valueUsd, token } = balance;
  return {
    ...{
      as_of: asOf,
      wallet: address,
      chain,
      chain_id: chainId,
      symbol,
      name: token.name,
      token: token.address,
    },
    amount: plainUnits(amount, decimalsOf(token, chainId)),
    ...{ amount_smallest_unit: amount, price_usd: priceUsd, value_usd: valueUsd },
    value_usd_is: valueUsd === null ? null : "at today's price",
    ...{ in_total: reason === null, reason },
  };
};

const totalOf = (rows: readonly Row[]): string =>
  sumDecimals(
    rows.flatMap(({ balance, reason }) =>
      reason === null && balance.valueUsd !== null ? [balance.valueUsd] : [],
    ),
  );

type TokensSummaryProps = {
  /** Those that the search finds. */
  rows: readonly Row[];
  loaded: number;
  hasMore: boolean;
  only: string;
  onOnly: (only: string) => void;
};

/** Beside the sentence that nothing has a price. */
const tokensText = (count: number, unpriced: number): string => {
  const tokens = counted(count, 'token', 'tokens');
  if (unpriced < count) return tokens;
  return `${tokens}, ${count === 1 ? '' : 'all '}without a price`;
};

/** How much of the wallet the table has, what it adds up to, and what is left out. */
const TokensSummary = ({ rows, loaded, hasMore, only, onOnly }: TokensSummaryProps) => {
  const total = useMemo(() => totalOf(rows), [rows]);
  const left = rows.filter(({ reason }) => reason !== null);
  const unpriced = left.filter(({ balance }) => balance.valueUsd === null).length;
  const thin = left.length - unpriced;
  const isAll = rows.length === loaded;
  const hasNoPrice = isUnpriced({
    countedBalances: rows.length - left.length,
    unpricedBalances: unpriced,
  });
  const said = [
    isAll && !hasMore
      ? hasNoPrice
        ? tokensText(rows.length, unpriced)
        : 'in all'
      : `in the ${isAll ? '' : `${formatCount(rows.length)} found of the `}${formatCount(loaded)} tokens loaded`,
    hasMore && 'there are more',
    thin > 0 && `${formatCount(thin)} left out for little liquidity`,
    unpriced > 0 && !(hasNoPrice && unpriced === rows.length) && `${formatCount(unpriced)} without a price`,
  ].filter(Boolean);
  const choices = [
    ['', `All ${formatCount(rows.length)}`],
    ['counted', `In the total ${formatCount(rows.length - left.length)}`],
    ['left', `Left out ${formatCount(left.length)}`],
  ] as const;
  return html`<div class="bar">
    <p><strong class="total">${hasNoPrice ? html`<${NoPrices} />` : formatUsdBriefly(total)}</strong> <span class="quiet">${said.join('; ')}</span></p>
    <div class="bar segments push" role="group" aria-label="Which tokens">${choices.map(([id, title]) => html`<button key=${id} type="button" aria-pressed=${only === id} onClick=${() => onOnly(id)}>${title}</button>`)}</div>
  </div>`;
};

const STEP = 15;
/** Of thousands of rows only these are drawn: those in the window, and some above and below it. */
const DRAWN = 4 * STEP;

/** Which rows are near the window, and how tall the others are by those that are drawn. */
const useNear = (count: number) => {
  const body = useRef<HTMLTableSectionElement>(null);
  const [{ from, height }, setPlace] = useState({ from: 0, height: 0 });
  useEffect(() => {
    const follow = () => {
      const rows = [...(body.current?.querySelectorAll('[data-token]') ?? [])];
      const [first, last] = [rows[0]?.getBoundingClientRect(), rows.at(-1)?.getBoundingClientRect()];
      if (!body.current || !first || !last) return;
      const average = (last.bottom - first.top) / rows.length;
      const above = -body.current.getBoundingClientRect().top / average;
      const next = Math.max(0, Math.floor(above / STEP) - 1) * STEP;
      setPlace((before) =>
        before.from === next && before.height > 0 ? before : { from: next, height: average },
      );
    };
    follow();
    addEventListener('scroll', follow, { passive: true });
    return () => removeEventListener('scroll', follow);
  }, []);
  return { body, from: Math.min(from, Math.max(0, count - DRAWN)), height };
};

type TableProps = {
  title: string;
  rows: readonly Row[];
  total: string;
  by: string;
  onSort: (by: string) => void;
  /** Whether the rows are not in the total: they say why, and have no share of it. */
  isLeft: boolean;
};

const Heading = ({ column, by, onSort }: { column: Column; by: string; onSort: (by: string) => void }) => {
  const { id, title, isNumber } = column;
  const isBy = (by === '' ? 'value' : by.replace(/^-/, '')) === id;
  const isTurned = by.startsWith('-');
  const order = isBy && (isNumber === isTurned ? 'ascending' : 'descending');
  return html`<th scope="col" class=${isNumber ? 'number' : ''} aria-sort=${order || undefined}>
    <button type="button" class="plain" onClick=${() => onSort(isBy && !isTurned ? `-${id}` : id)}>${title}<span aria-hidden="true">${order ? (order === 'ascending' ? ' ↑' : ' ↓') : ''}</span></button>
  </th>`;
};

/** A table of tokens that its headings sort. */
const TokenTable = ({ title, rows, total, by, onSort, isLeft }: TableProps) => {
  const { body, from, height } = useNear(rows.length);
  const room = (hidden: number) =>
    hidden > 0 && html`<tr class="room" aria-hidden="true" style=${{ height: `${hidden * height}px` }}></tr>`;
  const hasChange = rows.some(({ change }) => change !== null);
  const heading = (id: string) => {
    const column = COLUMNS.find((known) => known.id === id);
    return column && html`<${Heading} column=${column} by=${by} onSort=${onSort} />`;
  };
  return html`<section class="stack">
    <h3>${title}</h3>
    <div class="table" tabindex="0" role="region" aria-label=${title}>
      <table class="as-list token-table" aria-rowcount=${rows.length + 1}>
        <thead><tr>${heading('token')}${heading('chain')}${heading('price')}${hasChange && heading('change')}<th scope="col" class="number">Amount</th>${heading('value')}<th scope="col" class=${isLeft ? '' : 'number'}>${isLeft ? 'Why it is left out' : 'Share'}</th></tr></thead>
        <tbody ref=${body}>${room(from)}${rows.slice(from, from + DRAWN).map((row) => html`<${TokenRow} key=${row.balance.id} row=${row} total=${total} hasChange=${hasChange} />`)}${room(rows.length - from - DRAWN)}</tbody>
      </table>
    </div>
  </section>`;
};

const percent = new Intl.NumberFormat('en', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

const toneOf = (change: string): string =>
  /^-?0*(\.0*)?$/.test(change) ? 'quiet' : change.startsWith('-') ? 'bad' : 'good';

const BAR = 40;

const Share = ({ value, total }: { value: string; total: string }) => {
  // For the eye alone: nothing is added up from it.
  const share = compareDecimals(total, '0') === 0 ? 0 : Number(value) / Number(total);
  return html`<span class="of-total">${share > 0 && share < 0.001 ? '<0.1%' : percent.format(share)}<svg viewBox=${`0 0 ${BAR} 6`} width=${BAR} height="6" aria-hidden="true"><rect width=${BAR} height="6" rx="3" class="track" /><rect width=${Math.max(0, Math.min(1, share)) * BAR} height="6" rx="3" /></svg></span>`;
};

const TokenRow = ({ row, total, hasChange }: { row: Row; total: string; hasChange: boolean }) => {
  const { balance, symbol, chain, change, reason } = row;
  const { amount, token, priceUsd, valueUsd } = balance;
  const { shown, exact } = amountOf(amount, token);
  return html`<${OnChain} chainId=${balance.chainId}><tr data-token=${balance.id} class=${reason === null ? '' : 'is-left'}>
    <th scope="row"><span class="token-name"><${TokenLogo} token=${{ logo: token.logo, symbol }} size=${28} /><span><strong>${shorten(symbol, 20)}</strong><span class="bar quiet">${shorten(token.name ?? (token.isNative ? 'native asset' : 'no name'), 40)}${token.address && html` <span class="hex"><span title=${token.address}>${shortHex(token.address)}</span><${CopyButton} text=${token.address} label=${`address of ${shorten(symbol, 20)}`} /><${ExplorerLink} path=${`token/${token.address}`} /></span>`}</span></span></span></th>
    <td class="is-chain"><span class="tag">${chain}</span></td>
    <td class="number is-price">${priceUsd === null ? '—' : formatUsdBriefly(priceUsd)}</td>
    ${hasChange && html`<td class="number is-change">${change === null ? '—' : html`<span class=${toneOf(change)}>${formatChange(change)}</span>`}</td>`}
    <td class="number is-amount" title=${exact}>${shown}</td>
    <td class="number is-value">${valueUsd === null ? '—' : html`<span class=${reason === null ? '' : 'quiet'}>${formatUsdBriefly(valueUsd)}</span>`}</td>
    <td class=${reason === null ? 'number is-share' : 'reason'}>${reason ?? (valueUsd !== null && html`<${Share} value=${valueUsd} total=${total} />`)}</td>
  </tr><//>`;
};
