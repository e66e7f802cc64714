import { useCallback, useRef } from 'preact/hooks';
import {
  TransactionDetails,
  type TransactionRowFragment,
  WalletTransactions,
} from '../__generated__/operations.ts';
import { readTransaction } from '../activity/activity-details.ts';
import { type Answer, send } from '../api/client.ts';
import { useAnswer } from '../api/use-answer.ts';
import type { Item } from '../api/use-connection.ts';
import { OnChain, useChain, useChains } from '../chains.ts';
import { Address, Empty, html, Placeholder, Time, TransactionHash, useNow } from '../components.ts';
import { amountIn, inWords, isZero, nativeDecimals, nativeSymbol, shorten, shortHex } from '../format.ts';
import { useParam } from '../route.ts';
import { Export, linksTo, plainUnits, type Row } from './export.ts';
import { type Estimate, ListBody, ListHead, LoadAll, NotLoaded } from './list.ts';
import { feeOf, RawJson, TransactionBody, transactionText, type Whole } from './transaction-details.ts';
import { type PanelProps, useWalletList, walletList } from './use-wallet-list.ts';

/** The size of the service's pages, each of which costs one CU. */
const ITEMS_OF_A_REQUEST = 100;

const estimate = (shown: number, wanted: number): Estimate => {
  const requests = Math.ceil(wanted / ITEMS_OF_A_REQUEST) - Math.ceil(shown / ITEMS_OF_A_REQUEST);
  return { requests, computeUnits: requests };
};

const TRANSACTIONS = walletList({
  // A smaller page costs the same.
  pageSize: ITEMS_OF_A_REQUEST,
  operation: WalletTransactions,
  pageIn: ({ wallet }) => wallet.transactions,
});

export const Transactions = ({ address, chainIds }: PanelProps) => {
  const transactions = useWalletList(TRANSACTIONS, { address, chainIds });
  const { list } = transactions;
  const [open, setOpen] = useParam('open');
  const toggle = (hash: string) => setOpen(open === hash ? '' : hash);
  const now = useNow();
  const chains = useChains();
  return html`<div class="stack">
    <${ListHead} list=${transactions}>
      <${LoadAll} list=${transactions} what="transactions" estimate=${estimate} />
      <${Export} list=${transactions} what="transactions" name=${`transactions-${address}`} rowsOf=${() => transactions.nodes.map((node) => rowOf(node, address, chains))} estimate=${estimate} />
    <//>
    <${ListBody} list=${transactions} what="transactions" kind="row" empty="No transaction">
      ${!list.items.some(({ node }) => node.hash === open) && html`<${NotLoaded} open=${open} address=${address} chainIds=${chainIds} />`}
      <ul class="rows">
        ${list.items.map((item) => html`<${TransactionRow} key=${item.node.id} item=${item} address=${address} chainIds=${chainIds} now=${now} isOpen=${open === item.node.hash} onToggle=${() => toggle(item.node.hash)} onReload=${list.reload} />`)}
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

type DetailsProps = Pick<TransactionRowProps, 'item' | 'address' | 'chainIds' | 'onReload'>;

/** What a row leaves out. It is requested when the row is opened. */
const Details = ({ item, address, chainIds, onReload }: DetailsProps) => {
  const { node: row, before } = item;
  const { hash, chainId, blockTime, success } = row;
  const { findsByHash: isFound } = useChain(chainId);
  const load = useCallback(
    async (signal: AbortSignal): Promise<Answer<Whole>> => {
      // Its place in the list is the page that was read already. Only a failure's reason is not there.
      if (success !== false || !isFound) {
        const { data, problems } = await send(
          TransactionDetails,
          { address, after: before, chainIds },
          signal,
        );
        const placed = data?.wallet.transactions?.nodes[0] ?? null;
        if (placed?.id === row.id || (placed === null && problems.length > 0))
          return { data: placed, problems };
      }
      // A newer one has taken its place.
      if (chainId === null) return { data: null, problems: [] };
      const sought = { hash, chainId, time: blockTime ?? '' };
      const search = await readTransaction(address, sought, isFound, signal);
      return {
        data: search.state === 'found' ? search.transaction : null,
        problems: search.state === 'failed' ? [search.problem] : [],
      };
    },
    [address, before, chainIds, isFound, chainId, hash],
  );
  const { data, problems, isLoading, retry } = useAnswer(load);
  return html`<div class="details stack">
    ${
      data
        ? html`<${TransactionBody} transaction=${data} /><${RawJson} value=${data} />`
        : html`<${Placeholder} rows=${2} isLoading=${isLoading} problem=${problems[0]} onRetry=${retry}>
            <${Empty} title="The service no longer lists this transaction">Its chain may have replaced the block that it was in. <button type="button" onClick=${onReload}>Reload the list</button><//>
          <//>`
    }
  </div>`;
};

type TransactionRowProps = {
  item: Item<TransactionRowFragment>;
  address: string;
  chainIds: readonly number[];
  now: number;
  isOpen: boolean;
  onToggle: () => void;
  onReload: () => void;
};

const Sides = ({ transaction, address }: { transaction: TransactionRowFragment; address: string }) => {
  const direction = directionOf(transaction, address);
  const [glyph, word, tone] = DIRECTIONS[direction];
  const counterparty = counterpartyOf(transaction, address);
  const isFrom = counterparty === transaction.from;
  return html`<span class=${`direction ${tone}`}><span aria-hidden="true">${glyph}</span> ${word}</span>
    ${counterparty !== null && direction !== 'self' && html`<span class="party"><span class="quiet">${isFrom ? 'from' : 'to'}</span> <${Address} value=${counterparty} /></span>`}`;
};

/** One transaction in a line, which opens to its details. */
const TransactionRow = ({
  item,
  address,
  chainIds,
  now,
  isOpen,
  onToggle,
  onReload,
}: TransactionRowProps) => {
  const transaction = item.node;
  const { hash, chain, chainId, blockTime, value, success } = transaction;
  const wasOpened = useRef(false);
  if (isOpen) wasOpened.current = true;
  const details = `details-${address}-${transaction.id}`;
  return html`<${OnChain} chainId=${chainId}><li class=${success === false ? 'stack transaction is-failed' : 'stack transaction'} data-hash=${hash}>
    <div class="bar">
      <${Sides} transaction=${transaction} address=${address} />
      <span class="call">${transactionText(transaction)}</span>
      ${success === false && html`<span class="tag bad">failed</span>`}
      ${value !== null && html`<span class=${isZero(value) ? 'amount push quiet' : 'amount push'} title=${`${amountIn(value, nativeDecimals(chainId)).exact}${success === false ? ', which was not sent' : ''}`}>${amountIn(value, nativeDecimals(chainId)).shown} ${nativeSymbol(chainId)}</span>`}
    </div>
    <div class="bar quiet">
      <span class="tag">${inWords(shorten(chain, 40))}</span>
      <${Time} value=${blockTime} now=${now} />
      <${TransactionHash} value=${hash} chainId=${chainId} wallet=${address} />
      <button type="button" class="more push" aria-expanded=${isOpen} aria-controls=${wasOpened.current ? details : undefined} onClick=${onToggle}>Details<span class="visually-hidden"> of ${shortHex(hash)}</span></button>
    </div>
    ${wasOpened.current && html`<div id=${details} hidden=${!isOpen}><${Details} item=${item} address=${address} chainIds=${chainIds} onReload=${onReload} /></div>`}
  </li><//>`;
};

type Parties = Pick<TransactionRowFragment, 'from' | 'to'>;

/** `other`: the wallet is neither the sender nor the recipient. */
type Direction = 'in' | 'out' | 'self' | 'creates' | 'other';

const DIRECTIONS: Readonly<Record<Direction, readonly [glyph: string, word: string, tone: string]>> = {
  in: ['↓', 'in', 'good'],
  out: ['↑', 'out', ''],
  self: ['↻', 'to itself', ''],
  creates: ['+', 'creates', ''],
  other: ['·', 'involved', 'quiet'],
};

/** The direction of a transaction as seen from the wallet, which a lookup does not state. */
const directionOf = ({ from, to }: Parties, wallet: string): Direction => {
  if (to === null) return 'creates';
  if (from === wallet) return to === wallet ? 'self' : 'out';
  return to === wallet ? 'in' : 'other';
};

/** The other side; null when the wallet itself creates a contract. */
const counterpartyOf = ({ from, to }: Parties, wallet: string): string | null =>
  from === wallet ? to : from;
