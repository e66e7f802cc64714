import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { DeliveryPayload, type DeliveryRowFragment, WebhookDeliveries } from '../__generated__/operations.ts';
import { problemHere, send } from '../api/client.ts';
import { useOperation } from '../api/use-answer.ts';
import { type LoadPage, useConnection } from '../api/use-connection.ts';
import { useChainNames } from '../chains.ts';
import { Empty, html, LoadMore, Placeholder } from '../components.ts';
import { counted } from '../format.ts';
import { hrefOf, useParam } from '../route.ts';
import { Body, Entry, Resend, TriedRow, useResend } from './attempts.ts';
import { FaultNotice } from './change.ts';
import { MOST_REPLAYED, ReplayDialog } from './replay.ts';
import { causeOf, TYPES, triedOf, type Webhook } from './webhook-words.ts';

type Delivery = DeliveryRowFragment;

const PAGE = 20;

/** The log's pages go back from its end: the next page of the list is the one before. */
const load =
  (webhookIds: readonly string[]): LoadPage<Delivery> =>
  async (before, signal) => {
    const { data, problems } = await send(WebhookDeliveries, { webhookIds, last: PAGE, before }, signal);
    const page = data?.deliveries;
    if (!page) return { connection: null, problems };
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
  /** The webhooks are to be read again. */
  onStale: () => void;
  /** What is said above them. */
  children?: ComponentChildren;
};

/** The filters, and what they say when they leave nothing. */
const RESULTS = [
  { id: 'failed', word: 'Failed', none: 'None of the loaded deliveries has failed' },
  { id: 'arrived', word: 'Arrived', none: 'None of the loaded deliveries has arrived' },
];

/** What was delivered here, what was refused, and what the service tells of its attempts, the newest first, with each body. */
export const Deliveries = ({ webhooks, newest, live, onStale, children }: Props) => {
  const key = webhooks.map(({ webhookId }) => webhookId).join();
  const list = useConnection(useMemo(() => load(key.split(',')), [key]));
  const { items, isLoading, problem, hasMore, reload } = list;
  const [result, choose] = useParam('result');
  const resending = useResend(onStale);
  const [replayed, setReplayed] = useState<readonly string[]>([]);
  const deliveries = items.map(({ node }) => node);
  const oldest = hasMore ? (deliveries.at(-1)?.receivedAt ?? '') : '';
  // What is stored here is shown once, and what the service tells of a refusal says more.
  const told = webhooks
    .flatMap(triedOf)
    .filter(({ webhook, last }) => !(last.accepted && webhook.deliversHere));
  const refused = webhooks.flatMap(({ attempts, refusedDeliveries }) =>
    attempts ? [] : (refusedDeliveries ?? []),
  );
  const failed = told.filter(({ last }) => !last.accepted);

  const rows = [
    ...deliveries.map((delivery) => ({
      at: delivery.receivedAt,
      result: 'arrived',
      reason: '',
      rowOf: () =>
        html`<${Stored} key=${delivery.id} delivery=${delivery} showsType=${webhooks.length > 1} onReplay=${() => setReplayed([delivery.id])} />`,
    })),
    ...refused.map((each, index) => ({
      at: each.refusedAt,
      result: 'failed',
      reason: each.reason,
      rowOf: (isSame: boolean) =>
        html`<${Entry} key=${`${each.refusedAt} ${index}`} status=${each.status} isGood=${false} at=${each.refusedAt} said=${html`<span>refused${!isSame && `: ${each.reason}`}</span>`} facts=${[attemptOf(each.attempt)]} />`,
    })),
    ...told.map((each) => ({
      at: each.last.attemptedAt,
      result: each.last.accepted ? 'arrived' : 'failed',
      reason: causeOf(each.webhook, each.last),
      rowOf: (isSame: boolean) =>
        html`<${TriedRow} key=${each.last.deliveryId} tried=${each} isSame=${isSame} by=${resending} />`,
    })),
  ]
    .filter((row) => row.at >= oldest && (result === '' || row.result === result))
    .toSorted((one, other) => (one.at < other.at ? 1 : -1));
  const isBehind = newest !== null && !isLoading && newest > (deliveries[0]?.receivedAt ?? '');
  const none = RESULTS.find(({ id }) => id === result)?.none ?? null;
  const hasOthers = none !== null || refused.length + told.length > 0;
  const shown = deliveries.slice(0, MOST_REPLAYED).map(({ id }) => id);
  return html`<div class="stack tight">
    <div class="bar">
      ${children}
      ${isBehind && html`<button type="button" onClick=${reload}>Show newer deliveries</button>`}
      <div class="bar push" role="group" aria-label="Show only">${RESULTS.map(({ id, word }) => html`<button key=${id} type="button" aria-pressed=${result === id} onClick=${() => choose(result === id ? '' : id)}>${word}</button>`)}</div>
      ${failed.length > 0 && html`<${Resend} of=${failed} by=${resending}>Resend all that failed (${failed.length})<//>`}
      ${shown.length > 0 && html`<button type="button" onClick=${() => setReplayed(shown.toReversed())}>Replay the newest ${shown.length}…</button>`}
      <a href=${hrefOf('live', [], live)}>Follow live</a>
    </div>
    <p class="good" role="status">${resending.said}</p>
    <${FaultNotice} fault=${resending.fault} />
    <div class="attempts-scroll">
      ${rows.length > 0 && html`<ol class="rows attempts" aria-label="Deliveries">${rows.map(({ rowOf, reason }, index) => rowOf(reason === rows[index - 1]?.reason))}</ol>`}
      ${rows.length === 0 && none !== null && !isLoading && html`<${Empty} title=${none} />`}
      ${
        items.length > 0
          ? html`<${LoadMore} list=${list} what="deliveries" />`
          : html`<${Placeholder} rows=${3} isLoading=${isLoading} problem=${problem} onRetry=${reload}>
              ${!hasOthers && html`<${Empty} title="No delivery has arrived here">Send a test event, or wait for an event of its addresses.<//>`}
            <//>`
      }
    </div>
    ${replayed.length > 0 && html`<${ReplayDialog} ids=${replayed} onClose=${() => setReplayed([])} />`}
  </div>`;
};

const attemptOf = (attempt: number | null): string => (attempt ? `attempt ${attempt + 1}` : '');

/** Milliseconds from the dispatch to the arrival; clocks may differ. */
const delayOf = ({ dispatchedAt, receivedAt }: Delivery): string => {
  const ms = dispatchedAt === null ? -1 : Date.parse(receivedAt) - Date.parse(dispatchedAt);
  if (ms < 0) return '';
  return ms < 1000 ? `after ${ms} ms` : `after ${(ms / 1000).toFixed(1)} s`;
};

type StoredProps = { delivery: Delivery; showsType: boolean; onReplay: () => void };

const Stored = ({ delivery, showsType, onReplay }: StoredProps) => {
  const { id, type, chainId, receivedAt, attempt, events } = delivery;
  const nameOf = useChainNames();
  const facts = [
    showsType && type !== null && TYPES[type].toLowerCase(),
    counted(events.length, 'event', 'events'),
    chainId !== null && nameOf(chainId),
    delayOf(delivery),
    attemptOf(attempt),
  ];
  return html`<${Entry} mark=${{ 'data-delivery': id }} status=${200} isGood at=${receivedAt} facts=${facts} actions=${html`<button type="button" onClick=${onReplay}>Replay…</button>`} body=${() => html`<${StoredPayload} id=${id} />`} />`;
};

const GONE = problemHere('NOT_FOUND', 'The log no longer keeps this delivery.');

const StoredPayload = ({ id }: { id: string }) => {
  const { data, problems, isLoading, retry } = useOperation(DeliveryPayload, { id });
  if (data?.node?.__typename === 'WebhookDelivery') return html`<${Body} payload=${data.node.payload} />`;
  return html`<${Placeholder} rows=${1} isLoading=${isLoading} problem=${problems[0] ?? GONE} onRetry=${retry} />`;
};
