import { useEffect, useRef } from 'preact/hooks';
import { type TransactionRowFragment, WalletTransactions } from '../__generated__/operations.ts';
import { feeOf, keepFees } from '../activity/known.ts';
import type { Item } from '../api/use-connection.ts';
import { OnChain, useChain, useChains } from '../chains.ts';
import { Address, html, Time, TransactionHash, useNow } from '../components.ts';
import { amountIn, inWords, isZero, nativeDecimals, nativeSymbol, shorten, shortHex } from '../format.ts';
import { useParam } from '../route.ts';
import { Export, linksTo, plainUnits, type Row } from './export.ts';
import { Finding, useTransaction } from './find-transaction.ts';
import {
  type Estimate,
  ListBody,
  ListHead,
  LoadAll,
  NotLoaded,
  type PanelProps,
  useWalletList,
  walletList,
} from './list.ts';
import { RawJson, transactionText } from './transaction-details.ts';

/** The size of the service's pages, each of which costs one CU. */
const ITEMS_OF_A_REQUEST = 100;

const estimate = (shown: number, wanted: number): Estimate => {
  const requests = Math.ceil(wanted / ITEMS_OF_A_REQUEST) - Math.ceil(shown / ITEMS_OF_A_REQUEST);
  return { requests, computeUnits: requests };
};

/** A smaller page costs the same. */
const TRANSACTIONS = walletList(ITEMS_OF_A_REQUEST, WalletTransactions, ({ wallet }) => wallet.transactions);

export const Transactions = ({ address, chainIds }: PanelProps) => {
  const transactions = useWalletList(TRANSACTIONS, { address, chainIds });
  const { items, nodes } = transactions;
  useEffect(() => keepFees(nodes), [nodes]);
  const [open, setOpen] = useParam('open');
  const toggle = (hash: string) => setOpen(open === hash ? '' : hash);
  const now = useNow();
  const chains = useChains();
  return html`<div class="stack">
    <${ListHead} list=${transactions}>
      <${LoadAll} list=${transactions} what="transactions" estimate=${estimate} />
      <${Export} list=${transactions} what="transactions" name=${`transactions-${address}`} rowsOf=${() => nodes.map((node) => rowOf(node, address, chains))} estimate=${estimate} />
    <//>
    <${ListBody} list=${transactions} what="transactions" kind="row" empty="No transaction">
      ${!nodes.some(({ hash }) => hash === open) && html`<${NotLoaded} open=${open} address=${address} chainIds=${chainIds} />`}
      <ul class="rows">
        ${items.map((item) => html`<${TransactionRow} key=${item.node.id} item=${item} address=${address} chainIds=${chainIds} now=${now} isOpen=${open === item.node.hash} onToggle=${() => toggle(item.node.hash)} />`)}
      </ul>
    <//>
  </div>`;
};

/** As a row of a file. */
const rowOf = (
  transaction: TransactionRowFragment,
  address: string,
  chains: ReturnType<typeof useChains>,
): Row => {
  const { blockTime, chain, chainId, blockNumber, hash, from, to, value, success, decoded } = transaction;
  const url = chains.find((known) => known.chainId === chainId)?.explorer?.url ?? null;
  const fee = feeOf(transaction);
  return {
    ...{ time: blockTime, wallet: address, chain, chain_id: chainId, block: blockNumber, transaction: hash },
    ...{ direction: directionOf(transaction, address), from, to, function: decoded?.name ?? null, success },
    value: plainUnits(value, nativeDecimals(chainId)),
    fee: plainUnits(fee, nativeDecimals(chainId)),
    currency: nativeSymbol(chainId),
    ...linksTo(chainId, hash, address, url),
  };
};

type DetailsProps = Pick<TransactionRowProps, 'item' | 'address' | 'chainIds'>;

/** What a row leaves out. It is requested when the row is opened. */
const Details = ({ item, address, chainIds }: DetailsProps) => {
  const { chainId, hash, blockTime: time, success } = item.node;
  const { findsByHash } = useChain(chainId);
  // Its place in the list is in the page that was read already. Only a failure's reason is not there.
  const place = success === false && findsByHash ? null : { after: item.before, chainIds };
  const reading = useTransaction({ address, chainId, hash, time, place }, true);
  return html`<div class="details stack">
    <${Finding} ...${reading} />
    ${reading.search.state === 'found' && html`<${RawJson} value=${reading.search.transaction} />`}
  </div>`;
};

type TransactionRowProps = {
  item: Item<TransactionRowFragment>;
  address: string;
  chainIds: readonly number[];
  now: number;
  isOpen: boolean;
  onToggle: () => void;
};

const Sides = ({ transaction, address }: { transaction: TransactionRowFragment; address: string }) => {
  const direction = directionOf(transaction, address);
  const [glyph, word, tone] = DIRECTIONS[direction];
  const { from, to } = transaction;
  const isFrom = from !== address;
  const counterparty = isFrom ? from : to;
  return html`<span class=${`direction ${tone}`}><span aria-hidden="true">${glyph}</span> ${word}</span>
    ${counterparty !== null && direction !== 'self' && html`<span class="line party"><span class="quiet">${isFrom ? 'from' : 'to'}</span> <${Address} value=${counterparty} /></span>`}`;
};

/** One transaction in a line, which opens to its details. */
const TransactionRow = ({ item, address, chainIds, now, isOpen, onToggle }: TransactionRowProps) => {
  const transaction = item.node;
  const { hash, chain, chainId, blockTime, value, success } = transaction;
  const { shown, exact } = amountIn(value, nativeDecimals(chainId));
  const wasOpened = useRef(false);
  if (isOpen) wasOpened.current = true;
  const details = `details-${address}-${transaction.id}`;
  return html`<${OnChain} chainId=${chainId}><li class=${success === false ? 'stack transaction is-failed' : 'stack transaction'} data-hash=${hash}>
    <div class="bar">
      <${Sides} transaction=${transaction} address=${address} />
      <span class="call">${transactionText(transaction)}</span>
      ${success === false && html`<span class="tag bad">failed</span>`}
      <span class=${isZero(value) ? 'amount push quiet' : 'amount push'} title=${`${exact}${success === false ? ', which was not sent' : ''}`}>${shown} ${nativeSymbol(chainId)}</span>
    </div>
    <div class="bar quiet">
      <span class="tag">${inWords(shorten(chain, 40))}</span>
      <${Time} value=${blockTime} now=${now} />
      <${TransactionHash} value=${hash} chainId=${chainId} wallet=${address} />
      <button type="button" class="more push" aria-expanded=${isOpen} aria-controls=${wasOpened.current ? details : undefined} onClick=${onToggle}>Details<span class="visually-hidden"> of ${shortHex(hash)}</span></button>
    </div>
    ${wasOpened.current && html`<div id=${details} hidden=${!isOpen}><${Details} item=${item} address=${address} chainIds=${chainIds} /></div>`}
  </li><//>`;
};

type Parties = Pick<TransactionRowFragment, 'from' | 'to'>;

/** Each with its glyph, its word and its tone. `other`: the wallet is neither the sender nor the recipient. */
const DIRECTIONS = {
  in: ['↓', 'in', 'good'],
  out: ['↑', 'out', ''],
  self: ['↻', 'to itself', ''],
  creates: ['+', 'creates', ''],
  other: ['·', 'involved', 'quiet'],
} as const;

/** The direction of a transaction as seen from the wallet, which a lookup does not state. */
const directionOf = ({ from, to }: Parties, wallet: string): keyof typeof DIRECTIONS => {
  if (to === null) return 'creates';
  if (from === wallet) return to === wallet ? 'self' : 'out';
  return to === wallet ? 'in' : 'other';
};
