import type { Delivery, FeedItem } from '../api/live-feed.ts';
import { Empty } from '../components/notice.ts';
import { inWords } from '../format/text.ts';
import { formatTime } from '../format/time.ts';
import { html } from '../html.ts';
import { hrefOf } from '../state/route.ts';
import { EventText } from './event-text.ts';

/** A delivery may have ten thousand events. */
const SHOWN_EVENTS = 5;

const DeliveryRow = ({ delivery, isNew }: { delivery: Delivery; isNew: boolean }) => {
  const { type, receivedAt, events } = delivery;
  const others = events.length - SHOWN_EVENTS;
  return html`<li class=${isNew ? 'delivery is-new' : 'delivery'} data-delivery=${delivery.id}>
    <div class="bar">
      <span class="tag">${type ? inWords(type) : 'unknown type'}</span>
      <time datetime=${receivedAt} class="quiet">${formatTime(receivedAt)}</time>
    </div>
    <ul>
      ${events.slice(0, SHOWN_EVENTS).map((event, index) => html`<li key=${index}><${EventText} event=${event} chainId=${delivery.chainId} /></li>`)}
      ${others > 0 && html`<li class="quiet">and ${others} more events</li>`}
      ${events.length === 0 && html`<li class="quiet">No event that this gateway can read: its payload has the body.</li>`}
    </ul>
  </li>`;
};

/** The newest delivery first, with a line where the log could not be continued. */
export const FeedList = ({ items }: { items: readonly FeedItem[] }) =>
  items.length === 0
    ? html`<${Empty} title="No event has arrived yet">Events come from webhooks that point here. <a href=${hrefOf('wallet')}>Watch a wallet</a>, or <a href=${hrefOf('webhooks')}>point a webhook here</a>.<//>`
    : html`<ol class="rows feed">
        ${items.map((item) =>
          item.kind === 'gap'
            ? html`<li key=${`gap ${item.cursor}`} class="gap" role="note">${item.message}</li>`
            : html`<${DeliveryRow} key=${item.cursor} delivery=${item.delivery} isNew=${item.isNew} />`,
        )}
      </ol>`;
