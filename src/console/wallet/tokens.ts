import { sumDecimals } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type BalanceRowFragment, WalletBalances } from '../__generated__/operations.ts';
import { amountOf, decimalsOf, symbolOf } from '../activity/activity-model.ts';
import { keepToken } from '../activity/known.ts';
import { NoPrices } from '../chain-filter.ts';
import { OnChain, useChainNames } from '../chains.ts';
import { CopyButton, Empty, ExplorerLink, html } from '../components.ts';
import { usePrice } from '../cost/prices.ts';
import {
  counted,
  formatChange,
  formatCount,
  formatPrice,
  formatUsd,
  formatUsdBriefly,
  shorten,
  shortHex,
  toneOf,
} from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { useParam } from '../route.ts';
import { Export, type Row as FileRow, plainUnits } from './export.ts';
import { FindField, ListBody, ListHead, type PanelProps, useWalletList, walletList } from './list.ts';
import { isThin, isUnpriced, MIN_POOL_SIZE_USD } from './thin-pools.ts';

type Balance = BalanceRowFragment;

/** Why a balance is not in the total; null for one that is. */
const reasonOf = ({ valueUsd, token, lowLiquidity, poolSizeUsd }: Balance): string | null => {
  if (valueUsd === null) return 'No market price is known.';
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

type Column = {
  readonly id: string;
  readonly title: string;
  readonly isNumber: boolean;
  /** What it sorts by; null for a row without a value, which stays last in both orders. A column without it does not sort. */
  readonly key?: (row: Row) => string | number | null;
};

/** To put them in order for the eye, rounded numbers are exact enough. */
const numberIn = (decimal: string | null): number | null => (decimal === null ? null : Number(decimal));

/** The column that sorts where none is chosen. */
const VALUE = 'value';

const COLUMNS: readonly Column[] = [
  { id: 'token', title: 'Token', isNumber: false, key: ({ symbol }) => symbol.toLowerCase() },
  { id: 'chain', title: 'Chain', isNumber: false, key: ({ chain }) => chain.toLowerCase() },
  { id: 'price', title: 'Price', isNumber: true, key: ({ balance }) => numberIn(balance.priceUsd) },
  { id: 'change', title: '24 h', isNumber: true, key: ({ change }) => numberIn(change) },
  { id: 'amount', title: 'Amount', isNumber: true },
  { id: VALUE, title: 'Value', isNumber: true, key: ({ balance }) => numberIn(balance.valueUsd) },
];

/** `price` or, the other way round, `-price`: names begin with A, numbers with the largest. */
const sorted = (rows: readonly Row[], by: string): readonly Row[] => {
  const chosen = COLUMNS.find(({ id }) => id === by.replace(/^-/, ''));
  const turn = by.startsWith('-') === (chosen?.isNumber ?? true) ? 1 : -1;
  return rows
    .map((row) => ({ row, key: chosen?.key?.(row) ?? null }))
    .toSorted((one, other) => {
      if (one.key === null || other.key === null)
        return Number(one.key === null) - Number(other.key === null);
      return one.key < other.key ? -turn : one.key > other.key ? turn : 0;
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
        change: balance.priceHistory[0]?.changeRatio ?? null,
        reason: reasonOf(balance),
      })),
    [balances, nameOf],
  );
};

const matches = ({ balance, symbol, chain }: Row, sought: string): boolean =>
  [symbol, balance.token.name, balance.token.address, chain].some((said) =>
    said?.toLowerCase().includes(sought),
  );

/** The service's largest page: the whole wallet, but for a few. */
const TOKENS = walletList(1000, WalletBalances, ({ wallet }) => wallet.balances);

/** What the wallet holds, which of it counts towards the total, and why the rest does not. */
export const Tokens = ({ address, chainIds }: PanelProps) => {
  const balances = useWalletList(TOKENS, { address, chainIds });
  useEffect(() => {
    for (const { token } of balances.nodes) keepToken(token);
  }, [balances.nodes]);
  const { nodes, pages, hasMore } = balances;
  const { computeUnits } = usePrice(['balances'], chainIds);
  const rows = useRows(nodes);
  const [find] = useParam('find');
  const [chosen, setBy] = useParam('by');
  const by = chosen === '' ? VALUE : chosen;
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
      <${Export} list=${balances} what="tokens" name=${`tokens-${address}`} rowsOf=${() => [...counted, ...left].filter(({ reason }) => only === '' || (only === 'left') === (reason !== null)).map((row) => fileRow(row, address, pages[0]?.requestTime ?? null))} estimate=${(shown: number) => ({ requests: 1, computeUnits: shown > 0 ? (computeUnits ?? 0) * MOST_PAGES : 0 })} />
    <//>
    <${ListBody} list=${balances} what="tokens" kind="row" empty="No token" isPaused=${true}>
      <${TokensSummary} rows=${found} loaded=${rows.length} hasMore=${hasMore} only=${only} onOnly=${setOnly} />
      <div class="grid"><${FindField} placeholder="symbol, name, address or chain" />
      <label class="field token-order">Sort
        <select value=${by} onChange=${(event: Event) => setBy((event.currentTarget as HTMLSelectElement).value)}>
          ${COLUMNS.filter(({ key }) => key).flatMap(({ id, title }) => [id, `-${id}`].map((order) => html`<option key=${order} value=${order}>${title}${order === id ? '' : ', reversed'}</option>`))}
        </select>
      </label></div>
      ${found.length === 0 && html`<${Empty} title=${`None of the ${formatCount(rows.length)} tokens matches the search.`}>A search finds a part of a symbol, a name, an address or a chain.<//>`}
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
    `${hasNoPrice ? '' : 'in '}${isAll ? '' : `${formatCount(rows.length)} found of `}${counted(loaded, 'token', 'tokens')}${hasMore ? ' loaded' : ''}`,
    hasMore && 'there are more',
    thin > 0 && `${formatCount(thin)} left out for little liquidity`,
    unpriced > 0 && !hasNoPrice && `${formatCount(unpriced)} without a price`,
  ].filter(Boolean);
  const choices = [
    ['', `All ${formatCount(rows.length)}`],
    ['counted', `In the total ${formatCount(rows.length - left.length)}`],
    ['left', `Left out ${formatCount(left.length)}`],
  ] as const;
  return html`<div class="bar">
    <p><strong class="total">${hasNoPrice ? html`<${NoPrices} />.` : formatUsdBriefly(total)}</strong> <span class="quiet">${said.join('; ')}</span></p>
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

type HeadingProps = { column: Column; by: string; onSort: (by: string) => void };

const Heading = ({ column, by, onSort }: HeadingProps) => {
  const { id, title, isNumber, key } = column;
  const isTurned = by.startsWith('-');
  const order = by.replace(/^-/, '') === id && (isNumber === isTurned ? 'ascending' : 'descending');
  return html`<th scope="col" class=${isNumber ? 'number' : ''} aria-sort=${order || undefined}>
    ${key ? html`<button type="button" class="plain" onClick=${() => onSort(order && !isTurned ? `-${id}` : id)}>${title}${order && html`<span aria-hidden="true">${order === 'ascending' ? '↑' : '↓'}</span>`}</button>` : title}
  </th>`;
};

/** A table of tokens that its headings sort. */
const TokenTable = ({ title, rows, total, by, onSort, isLeft }: TableProps) => {
  const { body, from, height } = useNear(rows.length);
  const room = (hidden: number) =>
    hidden > 0 && html`<tr aria-hidden="true" style=${{ height: `${hidden * height}px` }}></tr>`;
  const hasChange = rows.some(({ change }) => change !== null);
  const columns = COLUMNS.filter(({ id }) => id !== 'change' || hasChange);
  return html`<section class="stack">
    <h3>${title}</h3>
    <div class="table" tabindex="0" role="region" aria-label=${title}>
      <table class="as-list token-table" aria-rowcount=${rows.length + 1}>
        <thead><tr>${columns.map((column) => html`<${Heading} key=${column.id} column=${column} by=${by} onSort=${onSort} />`)}<th scope="col" class=${isLeft ? '' : 'number'}>${isLeft ? 'Why it is left out' : 'Share'}</th></tr></thead>
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

const BAR = 40;

const Share = ({ value, total }: { value: string; total: string }) => {
  // For the eye alone: nothing is added up from it.
  const share = Number(total) === 0 ? 0 : Number(value) / Number(total);
  return html`<span class="of-total">${share > 0 && share < 0.001 ? '<0.1%' : percent.format(share)}<svg viewBox=${`0 0 ${BAR} 6`} width=${BAR} height="6" aria-hidden="true"><rect width=${BAR} height="6" rx="3" class="track" /><rect width=${Math.max(0, Math.min(1, share)) * BAR} height="6" rx="3" /></svg></span>`;
};

const TokenRow = ({ row, total, hasChange }: { row: Row; total: string; hasChange: boolean }) => {
  const { balance, symbol, chain, reason } = row;
  const change = row.change === null ? '—' : formatChange(row.change);
  const { amount, token, priceUsd, valueUsd } = balance;
  const { shown, exact } = amountOf(amount, token);
  return html`<${OnChain} chainId=${balance.chainId}><tr data-token=${balance.id} class=${reason === null ? '' : 'is-left'}>
    <th scope="row"><span class="line"><${TokenLogo} token=${{ logo: token.logo, symbol }} size=${28} /><span><strong>${shorten(symbol, 20)}</strong><span class="bar quiet small">${shorten(token.name ?? (token.isNative ? 'native asset' : 'no name'), 40)}${token.address && html` <span class="hex"><span title=${token.address}>${shortHex(token.address)}</span><${CopyButton} text=${token.address} label=${`address of ${shorten(symbol, 20)}`} /><${ExplorerLink} path=${`token/${token.address}`} /></span>`}</span></span></span></th>
    <td class="is-chain"><span class="tag">${chain}</span></td>
    <td class="number is-price">${priceUsd === null ? '—' : formatPrice(priceUsd)}</td>
    ${hasChange && html`<td class="number is-change"><span class=${toneOf(change)}>${change}</span></td>`}
    <td class="number is-amount" title=${exact}>${shown}</td>
    <td class="number is-value">${valueUsd === null ? '—' : html`<span class=${reason === null ? '' : 'quiet'}>${formatUsdBriefly(valueUsd)}</span>`}</td>
    <td class=${reason === null ? 'number is-share' : 'quiet small reason'}>${reason ?? (valueUsd !== null && html`<${Share} value=${valueUsd} total=${total} />`)}</td>
  </tr><//>`;
};
