import { Fragment } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { OnChain, useChainNames } from '../chains.ts';
import { Empty, html, LoadMore, Time, TransactionHash } from '../components.ts';
import { formatCount, type NameOfChain, shorten } from '../format.ts';
import { hrefOf } from '../route.ts';
import { useStore } from '../state.ts';
import { nameOfCall } from '../wallet/transaction-details.ts';
import { type Card, type DeliveredEvent, isSame, type Row } from './cards.ts';
import { EventLine } from './event-text.ts';
import type { Feed } from './feed.ts';

/** The newest transaction first, with a line where the log could not be continued, and older ones page by page. */
export const FeedList = ({ feed, rows }: { feed: Feed; rows: readonly Row[] }) => {
  const nameOf = useChainNames();
  if (rows.length === 0)
    return html`<${Empty} title="No event has arrived yet">Events come from webhooks that point here. <a href=${hrefOf('wallet')}>Watch a wallet</a>, or <a href=${hrefOf('webhooks')}>point a webhook here</a>.<//>`;
  return html`<ol class="rows feed">
      ${chunksOf(rows).map((chunk) => html`<${Chunk} key=${chunk.key} rows=${chunk.rows} nameOf=${nameOf} />`)}
    </ol>
    <${Older} feed=${feed} />`;
};

/**
 * Parts of the list of about sixteen rows. A part ends at a row that its own key tells, so that what arrives above or is cut
 * below leaves the others as they are.
 */
const chunksOf = (
  rows: readonly Row[],
): readonly { readonly key: string; readonly rows: readonly Row[] }[] => {
  const chunks: { key: string; rows: Row[] }[] = [];
  let open: Row[] = [];
  for (const row of rows) {
    open.push(row);
    if (!row.key.endsWith('0')) continue;
    chunks.push({ key: row.key, rows: open });
    open = [];
  }
  return [...chunks, { key: 'end', rows: open }];
};

type ChunkProps = { rows: readonly Row[]; nameOf: NameOfChain };

/** The same elements as before as long as its rows are the same: what did not change takes no time. */
const Chunk = ({ rows, nameOf }: ChunkProps) => {
  const before = useRef(rows);
  if (!isSame(rows, before.current)) before.current = rows;
  const { current } = before;
  return useMemo(
    () => html`<${Fragment}>
      ${current.map((row) =>
        row.kind === 'gap'
          ? html`<li key=${row.key} class="gap" role="note">${row.message}</li>`
          : html`<${CardRow} key=${row.key} card=${row} chain=${row.chainId === null ? null : nameOf(row.chainId)} />`,
      )}
    <//>`,
    [current, nameOf],
  );
};

/** How many events of a transaction are shown before they are asked for. */
const SHOWN_EVENTS = 5;

type Props = { card: Card; chain: string | null };

const transactionIn = (events: readonly DeliveredEvent[]) => {
  for (const event of events) if (event.__typename === 'TransactionEvent') return event.transaction;
  return null;
};

/** Whether an event says more than activities beside it: the transaction is the head of the card, and of an ERC-721 no amount follows. */
const saysMore = (event: DeliveredEvent): boolean =>
  event.__typename === 'Activity' ||
  (event.__typename === 'BalanceChange' && (event.tokenId === null || event.amountAfter !== null));

const CardRow = ({ card, chain }: Props) => {
  const [isWhole, setWhole] = useState(false);
  const { hash, chainId, deliveries, events, omitted, isNew } = card;
  const isTold = events.some(({ __typename }) => __typename === 'Activity');
  const transaction = transactionIn(events);
  const lines = isTold ? events.filter(saysMore) : events;
  const shown = isWhole ? lines : lines.slice(0, SHOWN_EVENTS);
  const hidden = lines.length - shown.length;
  const receivedAt = deliveries[0]?.receivedAt ?? '';
  return html`<li class=${isNew ? 'stack delivery is-new' : 'stack delivery'} data-transaction=${hash ?? ''}>
    <div class="bar quiet">
      <${Time} value=${receivedAt} />
      ${chain !== null && html`<span class="tag">${shorten(chain, 40)}</span>`}
      ${isTold && transaction?.decoded?.name && html`<span class="tag">${nameOfCall(transaction.decoded)}</span>`}
      ${transaction?.success === false && html`<span class="tag bad">failed</span>`}
      ${hash !== null && html`<span class="push"><${OnChain} chainId=${chainId}><${TransactionHash} value=${hash} chainId=${chainId} /><//></span>`}
    </div>
    <ul class="card-events">
      ${shown.map((event, index) => html`<${EventLine} key=${index} event=${event} chainId=${chainId} isTold=${isTold} />`)}
      ${events.length === 0 && html`<li class="quiet">No event that this gateway can read: its payload has the body.</li>`}
      ${omitted > 0 && html`<li class="quiet">The delivery has ${formatCount(omitted)} more events, which are not shown here.</li>`}
    </ul>
    ${hidden > 0 && html`<button type="button" class="more" onClick=${() => setWhole(true)}>Show ${formatCount(hidden)} more</button>`}
  </li>`;
};

/** Those before the list. What the log no longer has is not a fault. */
const Older = ({ feed }: { feed: Feed }) => {
  const { hasOlder, isLoadingOlder, olderProblem, items } = useStore(feed.state);
  if (olderProblem?.code === 'CURSOR_EXPIRED')
    return html`<p class="list-end">Older ones are no longer in the log.</p>`;
  const [state, read] = [{ isLoading: isLoadingOlder, problem: olderProblem }, feed.loadOlder];
  const list = { items, hasMore: hasOlder, ...state, loadMore: read, retry: read };
  return html`<${LoadMore} list=${list} what="deliveries" />`;
};
