import { useState } from 'preact/hooks';
import { OnChain, useChainNames } from '../chains.ts';
import { Empty, html, LoadMore, Time, TransactionHash } from '../components.ts';
import { formatCount, shorten } from '../format.ts';
import { hrefOf } from '../route.ts';
import { useStore } from '../state.ts';
import { nameOfCall } from '../wallet/transaction-details.ts';
import type { Card, DeliveredEvent, Row } from './cards.ts';
import { EventLine } from './event-text.ts';
import type { Feed } from './feed.ts';

/** The newest transaction first, with a line where the log could not be continued, and older ones page by page. */
export const FeedList = ({ feed, rows }: { feed: Feed; rows: readonly Row[] }) =>
  rows.length === 0
    ? html`<${Empty} title="No event has arrived yet">Events come from webhooks that point here. <a href=${hrefOf('wallet')}>Watch a wallet</a>, or <a href=${hrefOf('webhooks')}>point a webhook here</a>.<//>`
    : html`<ol class="rows feed">${rows.map(elementOf)}</ol>
        <${Older} feed=${feed} />`;

const elements = new WeakMap<Row, ReturnType<typeof html>>();

/** The same element as before as long as the row is the same object: what did not change takes no time. */
const elementOf = (row: Row) => {
  const element =
    elements.get(row) ??
    (row.kind === 'gap'
      ? html`<li key=${row.key} class="gap" role="note">${row.message}</li>`
      : html`<${CardRow} key=${row.key} card=${row} />`);
  elements.set(row, element);
  return element;
};

/** How many events of a transaction are shown before they are asked for. */
const SHOWN_EVENTS = 5;

/** Whether an event says more than activities beside it: the transaction is the head of the card, and of an ERC-721 no amount follows. */
const saysMore = (event: DeliveredEvent): boolean =>
  event.__typename === 'Activity' ||
  (event.__typename === 'BalanceChange' && (event.tokenId === null || event.amountAfter !== null));

const CardRow = ({ card }: { card: Card }) => {
  const [isWhole, setWhole] = useState(false);
  const nameOf = useChainNames();
  const { hash, chainId, deliveries, events, omitted, isNew } = card;
  const isTold = events.some(({ __typename }) => __typename === 'Activity');
  const { transaction } = events.find((event) => event.__typename === 'TransactionEvent') ?? {};
  const lines = isTold ? events.filter(saysMore) : events;
  const shown = isWhole ? lines : lines.slice(0, SHOWN_EVENTS);
  const hidden = lines.length - shown.length;
  const receivedAt = deliveries[0]?.receivedAt ?? '';
  return html`<li class=${isNew ? 'stack delivery is-new' : 'stack delivery'} data-transaction=${hash ?? ''}>
    <div class="bar quiet">
      <${Time} value=${receivedAt} />
      ${chainId !== null && html`<span class="tag">${shorten(nameOf(chainId), 40)}</span>`}
      ${isTold && transaction?.decoded?.name && html`<span class="tag">${nameOfCall(transaction.decoded)}</span>`}
      ${transaction?.success === false && html`<span class="tag bad">failed</span>`}
      ${hash !== null && html`<span class="push"><${OnChain} chainId=${chainId}><${TransactionHash} value=${hash} chainId=${chainId} /><//></span>`}
    </div>
    <ul class="card-events">
      ${shown.map((event, index) => html`<${EventLine} key=${index} event=${event} chainId=${chainId} isTold=${isTold} />`)}
      ${events.length === 0 && html`<li class="quiet">This delivery has no event that the gateway can read. Under Webhooks, its payload shows the body.</li>`}
      ${omitted > 0 && html`<li class="quiet">The delivery has ${formatCount(omitted)} more events, which are not shown here.</li>`}
    </ul>
    ${hidden > 0 && html`<button type="button" class="more" onClick=${() => setWhole(true)}>Show ${formatCount(hidden)} more</button>`}
  </li>`;
};

/** Those before the list. What the log no longer has is not a fault. */
const Older = ({ feed }: { feed: Feed }) => {
  const { hasOlder, isLoadingOlder, olderProblem, items } = useStore(feed.state);
  if (olderProblem?.code === 'CURSOR_EXPIRED')
    return html`<p class="stack tight quiet list-end">Older deliveries are no longer in the log.</p>`;
  const [state, read] = [{ isLoading: isLoadingOlder, problem: olderProblem }, feed.loadOlder];
  const list = { items, hasMore: hasOlder, ...state, loadMore: read, retry: read };
  return html`<${LoadMore} list=${list} what="deliveries" />`;
};
