import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { DeliveryPayload, type DeliveryRowFragment, WebhookDeliveries } from '../__generated__/operations.ts';
import { problemHere, send } from '../api/client.ts';
import { useOperation } from '../api/use-answer.ts';
import { type LoadPage, type Paged, useConnection } from '../api/use-connection.ts';
import { useChainNames } from '../chains.ts';
import { Empty, html, LoadMore, Placeholder, Time } from '../components.ts';
import { counted } from '../format.ts';
import { hrefOf, useParam } from '../route.ts';
import { Body, Resend, reasonOf, TriedRow, useResend } from './attempts.ts';
import { FaultNotice } from './change.ts';
import type { Refused } from './health.ts';
import { MOST_REPLAYED, ReplayDialog } from './replay.ts';
import { TYPES, triedOf, type Webhook } from './webhook-words.ts';

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
  /** The webhooks are to be read again. */
  onStale: () => void;
  /** What is said above them. */
  children?: ComponentChildren;
};

const RESULTS = { failed: 'Failed', arrived: 'Arrived' };
/** What a filter says that leaves nothing. */
const NONE: Readonly<Record<string, string>> = { failed: 'None has failed', arrived: 'None has arrived' };

/** What was delivered here, what was refused, and what the service tells of its attempts, the newest first, with each body. */
export const Deliveries = ({ webhooks, newest, live, onStale, children }: Props) => {
  const key = webhooks.map(({ webhookId }) => webhookId).join();
  const list = useConnection(useMemo(() => load(key.split(',')), [key]));
  const { items, isLoading, hasMore, reload } = list;
  const tried = webhooks.flatMap(triedOf);
  const [result, choose] = useParam('result');
  const resending = useResend(onStale);
  const [replayed, setReplayed] = useState<readonly string[]>([]);
  const deliveries = items.map(({ node }) => node);
  const oldest = hasMore ? (deliveries.at(-1)?.receivedAt ?? '') : '';
  // What is stored here is shown once, and what the service tells of a refusal says more.
  const told = tried.filter(({ webhook, last }) => !(last.accepted && webhook.deliversHere));
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
        html`<${NotStored} key=${`${each.refusedAt} ${index}`} refused=${each} isSame=${isSame} />`,
    })),
    ...told.map((each) => ({
      at: each.last.attemptedAt,
      result: each.last.accepted ? 'arrived' : 'failed',
      reason: reasonOf(each),
      rowOf: (isSame: boolean) =>
        html`<${TriedRow} key=${each.last.deliveryId} tried=${each} isSame=${isSame} by=${resending} />`,
    })),
  ]
    .filter((row) => row.at >= oldest && (result === '' || row.result === result))
    .toSorted((one, other) => (one.at < other.at ? 1 : -1));
  const isBehind = newest !== null && !isLoading && newest > (deliveries[0]?.receivedAt ?? '');
  const shown = deliveries.slice(0, MOST_REPLAYED).map(({ id }) => id);
  return html`<div class="stack tight">
    <div class="bar">
      ${children}
      ${isBehind && html`<button type="button" onClick=${reload}>Show newer deliveries</button>`}
      <div class="bar push" role="group" aria-label="Show only">${Object.entries(RESULTS).map(([id, word]) => html`<button key=${id} type="button" aria-pressed=${result === id} onClick=${() => choose(result === id ? '' : id)}>${word}</button>`)}</div>
      ${failed.length > 0 && html`<${Resend} of=${failed} by=${resending}>Resend all that failed (${failed.length})<//>`}
      ${shown.length > 0 && html`<button type="button" onClick=${() => setReplayed(shown.toReversed())}>Replay the newest ${shown.length}…</button>`}
      <a href=${hrefOf('live', [], live)}>Follow live</a>
    </div>
    <p class="webhooks-status" role="status">${resending.said}</p>
    <${FaultNotice} fault=${resending.fault} />
    <div class="attempts-scroll">
      ${rows.length > 0 && html`<ol class="rows attempts" aria-label="Deliveries">${rows.map(({ rowOf, reason }, index) => rowOf(reason === rows[index - 1]?.reason))}</ol>`}
      ${rows.length === 0 && result !== '' && !isLoading && html`<${Empty} title=${NONE[result] ?? 'None'}>Of the deliveries that are loaded.<//>`}
      ${items.length > 0 ? html`<${LoadMore} list=${list} what="deliveries" />` : html`<${NoneStored} list=${list} hasOthers=${result !== '' || refused.length + told.length > 0} />`}
    </div>
    ${replayed.length > 0 && html`<${ReplayDialog} ids=${replayed} onClose=${() => setReplayed([])} />`}
  </div>`;
};

type NoneProps = { list: Paged<Delivery>; hasOthers: boolean };

const NoneStored = ({ list: { isLoading, problem, reload }, hasOthers }: NoneProps) =>
  html`<${Placeholder} rows=${3} isLoading=${isLoading} problem=${problem} onRetry=${reload}>
    ${!hasOthers && html`<${Empty} title="No delivery has arrived here">Send a test event, or wait for an event of its addresses.<//>`}
  <//>`;

const attemptOf = (attempt: number | null): string => (attempt ? `attempt ${attempt + 1}` : '');

const NotStored = ({ refused, isSame }: { refused: Refused; isSame: boolean }) =>
  html`<li class="attempt">
    <div class="bar">
      <span class="tag bad">${refused.status}</span>
      <${Time} value=${refused.refusedAt} now=${Date.now()} />
      <span>refused${!isSame && `: ${refused.reason}`}</span>
      <span class="quiet">${attemptOf(refused.attempt)}</span>
    </div>
  </li>`;

/** Milliseconds from the dispatch to the arrival; clocks may differ. */
const delayOf = ({ dispatchedAt, receivedAt }: Delivery): string => {
  const ms = dispatchedAt === null ? -1 : Date.parse(receivedAt) - Date.parse(dispatchedAt);
  if (ms < 0) return '';
  return ms < 1000 ? `after ${ms} ms` : `after ${(ms / 1000).toFixed(1)} s`;
};

type StoredProps = { delivery: Delivery; showsType: boolean; onReplay: () => void };

const Stored = ({ delivery, showsType, onReplay }: StoredProps) => {
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
      <span class="tag good">200</span>
      <${Time} value=${receivedAt} now=${Date.now()} />
      <span class="quiet">${facts.join(' · ')}</span>
      <button type="button" class="push" onClick=${onReplay}>Replay…</button>
      <button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Payload</button>
    </div>
    ${isOpen && html`<${StoredPayload} id=${id} />`}
  </li>`;
};

const GONE = problemHere('NOT_FOUND', 'Retention has dropped this delivery.');

const StoredPayload = ({ id }: { id: string }) => {
  const { data, problems, isLoading, retry } = useOperation(DeliveryPayload, { id });
  if (data?.node?.__typename === 'WebhookDelivery') return html`<${Body} payload=${data.node.payload} />`;
  return html`<${Placeholder} rows=${1} isLoading=${isLoading} problem=${problems[0] ?? GONE} onRetry=${retry} />`;
};
