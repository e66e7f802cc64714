import { formatUnits } from 'evm-graphql-gateway/client';
import { useEffect, useState } from 'preact/hooks';
import { Dialog, html, ProblemNotice } from '../components.ts';
import { download } from '../download.ts';
import { counted, formatCount } from '../format.ts';
import { hrefOf } from '../route.ts';
import type { Estimate, WalletList } from './list.ts';

/** What a list shows, as a file. Amounts have all their digits, and are text. */

export type Row = Readonly<Record<string, string | number | boolean | null>>;

/** An amount of the smallest unit in whole units, with a point and nothing else. Null where the decimals are not known. */
export const plainUnits = (amount: string | null, decimals: number | null): string | null =>
  amount === null || decimals === null || decimals < 0 || decimals > 255
    ? null
    : formatUnits(amount, decimals);

/** Where a transaction has its pages: in the console, without anything that the tab keeps, and in the chain's explorer. */
export const linksTo = (chainId: number | null, hash: string, wallet: string, explorer: string | null) => ({
  link:
    chainId && `${location.origin}${location.pathname}${hrefOf('tx', [`${chainId}/${hash}`], { wallet })}`,
  explorer: explorer && `${explorer}/tx/${hash}`,
});

/** Names are strangers' words: spreadsheets run a text that begins so as a formula, and an apostrophe makes it text. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;
const NUMBER = /^-?\d+(\.\d+)?$/;

const cell = (value: Row[string]): string => {
  const text = value === null ? '' : String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** As RFC 4180 has it. */
const csvOf = (rows: readonly Row[]): string => {
  const columns = Object.keys(rows[0] ?? {});
  return [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))]
    .map((line) => `${line.map(cell).join(',')}\r\n`)
    .join('');
};

const FORMATS = {
  csv: { title: 'CSV', type: 'text/csv;charset=utf-8', write: csvOf },
  json: {
    title: 'JSON',
    type: 'application/json',
    write: (rows: readonly Row[]) => JSON.stringify(rows, null, 2),
  },
} as const;

/** The most items that are loaded for a file. */
const MOST = 5000;

type Props = {
  list: WalletList<unknown>;
  what: string;
  /** The file's name, without its ending. */
  name: string;
  rowsOf: () => readonly Row[];
  estimate: (shown: number, wanted: number) => Estimate;
};

/** Saves what is loaded and filtered; loads more of it before, after saying what that may cost. */
export const Export = ({ list, what, name, rowsOf, estimate }: Props) => {
  const [isOpen, setOpen] = useState(false);
  const [isLoadingAll, setLoadingAll] = useState(false);
  const { items, hasMore, isLoading, problem, loadMore, retry } = list;
  const isDone = !hasMore || items.length >= MOST || problem !== null;
  useEffect(() => {
    if (!isLoadingAll || isLoading) return;
    if (isDone) setLoadingAll(false);
    else loadMore();
  }, [isLoadingAll, isLoading, isDone, loadMore]);
  const close = () => {
    setOpen(false);
    setLoadingAll(false);
  };
  if (items.length === 0) return null;
  const rows = isOpen ? rowsOf() : [];
  const save = ({ type, write }: (typeof FORMATS)['csv' | 'json'], ending: string) =>
    download(`${name}.${ending}`, new Blob([write(rows)], { type }));
  const more = isDone ? null : estimate(items.length, MOST);
  return html`<button type="button" onClick=${() => setOpen(true)}>Export</button>
    ${
      isOpen &&
      html`<${Dialog} title=${`Export ${what}`} onClose=${close}>
        <div class="stack">
          <p role="status">${isLoadingAll ? `Loading: ${formatCount(items.length)} of at most ${formatCount(MOST)} are here.` : `${counted(rows.length, 'row', 'rows')}: what the list shows of ${formatCount(items.length)} loaded.`}</p>
          ${problem !== null && html`<${ProblemNotice} problem=${problem} onRetry=${retry} />`}
          <div class="bar">
            ${rows.length > 0 && Object.entries(FORMATS).map(([ending, format]) => html`<button key=${ending} type="button" class="primary" onClick=${() => save(format, ending)}>${format.title}</button>`)}
            ${isLoadingAll && html`<button type="button" onClick=${() => setLoadingAll(false)}>Stop loading</button>`}
            ${!isLoadingAll && more !== null && html`<button type="button" onClick=${() => setLoadingAll(true)}>Load up to ${formatCount(MOST)} first: ${formatCount(more.computeUnits)} CU at most</button>`}
          </div>
        </div>
      <//>`
    }`;
};
