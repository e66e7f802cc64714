import type { ComponentChildren } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import { DeliveryPayload, type DeliveryRowFragment, WebhookDeliveries } from '../__generated__/operations.ts';
import { problemHere, send } from '../api/client.ts';
import { useAnswer } from '../api/use-answer.ts';
import { type LoadPage, type Paged, useConnection } from '../api/use-connection.ts';
import { useChainNames } from '../chain-filter.ts';
import { CopyButton, Empty, html, LoadMore, Placeholder, Time } from '../components.ts';
import { counted, shorten } from '../format.ts';
import { hrefOf } from '../route.ts';
import type { Refused } from './health.ts';
import { TYPES, type Webhook } from './webhook-words.ts';

type Delivery = DeliveryRowFragment;

const PAGE = 20;

const NO_LOG = problemHere('LOG_UNAVAILABLE', 'The gateway answered without the deliveries.');

/** The log's pages go back from its end: the next page of the list is the one before. */
const load =
  (webhookIds: readonly string[]): LoadPage<Delivery> =>
  async (before, signal) => {
    const { data, problems } = await send(WebhookDeliveries, { webhookIds, last: PAGE, before }, signal);
    const page = data?.deliveries;
    if (!page) return { connection: null, problems: problems.length === 0 ? [NO_LOG] : problems };
    const { hasPreviousPage, startCursor } = page.pageInfo;
    return {
      connection: {
        edges: page.edges.toReversed(),
        pageInfo: { hasNextPage: hasPreviousPage, endCursor: startCursor },
      },
      problems,
    };
  };

type Props = {
  /** Whose deliveries are shown: one webhook, or those of a watch. */
  webhooks: readonly Webhook[];
  /** The newest delivery that is known: a button shows it if the list begins with an older one. */
  newest: string | null;
  /** The filter of the live events of the same webhooks. */
  live: Readonly<Record<string, string>>;
  /** What is said above them. */
  children?: ComponentChildren;
};

/** What was delivered here and what was refused, the newest first, with each body. */
export const Deliveries = ({ webhooks, newest, live, children }: Props) => {
  const key = webhooks.map(({ webhookId }) => webhookId).join();
  const list = useConnection(useMemo(() => load(key.split(',')), [key]));
  const { items, isLoading, hasMore, reload } = list;
  const deliveries = items.map(({ node }) => node);
  const oldest = hasMore ? (deliveries.at(-1)?.receivedAt ?? '') : '';
  const refused = webhooks
    .flatMap(({ refusedDeliveries }) => refusedDeliveries ?? [])
    .filter(({ refusedAt }) => refusedAt >= oldest);

  const rows = [
    ...deliveries.map((delivery) => ({
      at: delivery.receivedAt,
      row: html`<${Stored} key=${delivery.id} delivery=${delivery} showsType=${webhooks.length > 1} />`,
    })),
    ...refused.map((each, index) => ({
      at: each.refusedAt,
      row: html`<${NotStored} key=${`${each.refusedAt} ${index}`} refused=${each} />`,
    })),
  ].toSorted((one, other) => (one.at < other.at ? 1 : -1));
  const isBehind = newest !== null && !isLoading && newest > (deliveries[0]?.receivedAt ?? '');
  return html`<div class="webhook-deliveries">
    <div class="bar">
      ${children}
      ${isBehind && html`<button type="button" onClick=${reload}>Show newer deliveries</button>`}
      <a class="push" href=${hrefOf('live', [], live)}>Follow live</a>
    </div>
    <div class="attempts-scroll">
      ${rows.length > 0 && html`<ol class="rows attempts" aria-label="Deliveries">${rows.map(({ row }) => row)}</ol>`}
      ${items.length > 0 ? html`<${LoadMore} list=${list} what="deliveries" />` : html`<${NoneStored} list=${list} hasRefused=${refused.length > 0} />`}
    </div>
  </div>`;
};

type NoneProps = { list: Paged<Delivery>; hasRefused: boolean };

const NoneStored = ({ list: { isLoading, problem, reload }, hasRefused }: NoneProps) =>
  html`<${Placeholder} rows=${3} isLoading=${isLoading} problem=${problem} onRetry=${reload}>
    ${!hasRefused && html`<${Empty} title="No delivery has arrived here">Send a test event, or wait for an event of its addresses.<//>`}
  <//>`;

const attemptOf = (attempt: number | null): string => (attempt ? `attempt ${attempt + 1}` : '');

const NotStored = ({ refused }: { refused: Refused }) =>
  html`<li class="attempt">
    <div class="bar">
      <span class="tag is-bad">${refused.status}</span>
      <${Time} value=${refused.refusedAt} now=${Date.now()} />
      <span>refused: ${refused.reason}</span>
      <span class="quiet">${attemptOf(refused.attempt)}</span>
    </div>
  </li>`;

/** Milliseconds from the dispatch to the arrival; clocks may differ. */
const delayOf = ({ dispatchedAt, receivedAt }: Delivery): string => {
  const ms = dispatchedAt === null ? -1 : Date.parse(receivedAt) - Date.parse(dispatchedAt);
  if (ms < 0) return '';
  return ms < 1000 ? `after ${ms} ms` : `after ${(ms / 1000).toFixed(1)} s`;
};

type StoredProps = { delivery: Delivery; showsType: boolean };

const Stored = ({ delivery, showsType }: StoredProps) => {
  const { id, type, chainId, receivedAt, attempt, events } = delivery;
  const [isOpen, setOpen] = useState(false);
  const nameOf = useChainNames();
  const facts = [
    showsType && type !== null && TYPES[type].toLowerCase(),
    counted(events.length, 'event', 'events'),
    chainId !== null && nameOf(chainId),
    delayOf(delivery),
    attemptOf(attempt),
  ].filter(Boolean);
  return html`<li class="attempt" data-delivery=${id}>
    <div class="bar">
      <span class="tag is-good">200</span>
      <${Time} value=${receivedAt} now=${Date.now()} />
      <span class="quiet">${facts.join(' · ')}</span>
      <button type="button" class="push" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Payload</button>
    </div>
    ${isOpen && html`<${Payload} id=${id} />`}
  </li>`;
};

/** A body may have megabytes. */
const SHOWN = 20_000;

const GONE = problemHere('NOT_FOUND', 'Retention has dropped this delivery.');

const Payload = ({ id }: { id: string }) => {
  const load = useCallback(
    async (signal: AbortSignal) => {
      const { data, problems } = await send(DeliveryPayload, { id }, signal);
      const isFound = data?.node?.__typename === 'WebhookDelivery';
      return { data: isFound ? JSON.stringify(data.node.payload, null, 2) : null, problems };
    },
    [id],
  );
  const { data: text, problems, isLoading, retry } = useAnswer(load);
  if (text === null)
    return html`<${Placeholder} rows=${1} isLoading=${isLoading} problem=${problems[0] ?? GONE} onRetry=${retry} />`;
  return html`<div>
    <p class="quiet">The body as the service sent it${text.length > SHOWN && ', of which the beginning is shown'} <${CopyButton} text=${text} label="payload" /></p>
    <pre tabindex="0" role="group" aria-label="Payload">${shorten(text, SHOWN)}</pre>
  </div>`;
};
