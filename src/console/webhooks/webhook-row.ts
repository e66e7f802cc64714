import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ConnectWebhook, DeleteWebhook, UpdateWebhook } from '../__generated__/operations.ts';
import { useChainNames } from '../chains.ts';
import { Sparkline } from '../charts.ts';
import { Hash, html, Time, useNow } from '../components.ts';
import { counted, formatCount, shorten } from '../format.ts';
import { MOST_READ } from '../live/history.ts';
import { useParam } from '../route.ts';
import { ConfirmDialog, FaultNotice, sendChange, useChange } from './change.ts';
import { Deliveries } from './deliveries.ts';
import { type Health, healthOf, lastArrival, STATES } from './health.ts';
import type { LastDay } from './last-day.ts';
import { readWebhook, sendTestEvent } from './test-event.ts';
import { chainsOf, destinationOf, filtersOf, titleOf, typeOf, type Webhook } from './webhook-words.ts';

export type RowDialog = 'edit' | 'addresses' | 'delete';

type Props = {
  webhook: Webhook;
  lastDay: LastDay | null;
  /** The delivery URL of this gateway; null if the caller may not see it. */
  ownUrl: string | null;
  onOpen: (dialog: RowDialog) => void;
  /** `status` says what has happened. Without one, the webhook has only been read again. */
  onChanged: (webhook: Webhook, status?: string) => void;
  onStale: () => void;
  /** Whether it is shown below the watch that it belongs to. */
  isPart: boolean;
};

type ActionProps = {
  of: string;
  onClick: () => void;
  disabled?: boolean;
  kind?: string;
  /** Of what it opens below the row. */
  isOpen?: boolean;
  children: ComponentChildren;
};

export const Action = ({ of, onClick, disabled, kind, isOpen, children }: ActionProps) =>
  html`<button type="button" class=${kind} disabled=${disabled} aria-expanded=${isOpen} onClick=${onClick}>${children}<span class="visually-hidden"> ${of}</span></button>`;

export const StateTag = ({ state }: Pick<Health, 'state'>) =>
  html`<span class=${`tag ${STATES[state].tone}`}>${STATES[state].word}</span>`;

type DayProps = { of: string; webhooks: readonly Webhook[]; lastDay: LastDay | null };

/** The deliveries of the last day as a line, and when the last one came. */
export const Day = ({ of, webhooks, lastDay }: DayProps) => {
  const now = useNow();
  const known = webhooks.map((webhook) => lastArrival(webhook) ?? '');
  const newest = [...known, lastDay?.newest ?? ''].toSorted().at(-1);
  const count = lastDay?.count ?? 0;
  // None arrives here: that says nothing of those elsewhere. Of them the service may tell when it last tried.
  if (count === 0 && webhooks.every(({ deliversHere }) => !deliversHere)) {
    const tried = webhooks[0]?.attempts?.[0]?.attemptedAt;
    return html`<div class="webhook-day">${tried !== undefined && html`<span class="quiet">last sent <${Time} value=${tried} now=${now} /></span>`}</div>`;
  }
  const span = lastDay?.isPart ? counted(lastDay.minutes, 'minute', 'minutes') : '24 hours';
  return html`<div class="webhook-day">
    ${
      lastDay !== null &&
      html`<${Sparkline} label=${`Deliveries of ${of} over the last ${span}`} values=${lastDay.perSpan} />
        <span class="quiet" title=${lastDay.isPart ? `Counted are the newest ${formatCount(MOST_READ)} deliveries of all webhooks, and those since` : ''}>${lastDay.isPart && 'at least '}${formatCount(count)} in 24 h</span>`
    }
    <span class="quiet">${newest ? html`last <${Time} value=${newest} now=${now} />` : 'none yet'}</span>
  </div>`;
};

export const Reasons = ({ state, reasons }: Health) =>
  reasons.length > 0 &&
  html`<p class=${state === 'failing' ? 'webhook-reasons bad' : 'quiet'}>${reasons.join(' ')}</p>`;

const EVERY_MS = 5000;
const EVERY_MS_CLOSED = 15_000;

/** A webhook in words: whether its events arrive, or why not, and what can be done with it. */
export const WebhookRow = (props: Props) => {
  const { webhook, lastDay, ownUrl, onOpen, onChanged, onStale, isPart } = props;
  const { webhookId, active, deliversHere, url, createdAt } = webhook;
  const nameOf = useChainNames();
  const actions = useRef<HTMLDivElement>(null);
  const { running, fault, run } = useChange(onStale);
  const [tested, setTested] = useState({ text: '', isBad: false });
  const [isTesting, setTesting] = useState(false);
  const [open, setOpen] = useParam('open');
  const isOpen = open === webhookId;
  const latest = useRef(onChanged);
  latest.current = onChanged;
  const title = isPart ? `${titleOf(webhook)}, ${typeOf(webhook)}` : titleOf(webhook);
  const health = healthOf(webhook, ownUrl);
  const filters = filtersOf(webhook);

  const read = useCallback(async () => {
    const again = document.hidden ? null : await readWebhook(webhookId, isOpen);
    if (again) latest.current(again);
  }, [webhookId, isOpen]);
  // Nothing else tells that more was refused, or that its addresses are gone; and of one that delivers elsewhere, only the
  // service knows what came of it.
  const isAsked = isOpen || (!deliversHere && active && webhook.attempts !== null);
  useEffect(() => {
    if (!isAsked) return;
    void read();
    const timer = setInterval(read, isOpen ? EVERY_MS : EVERY_MS_CLOSED);
    return () => clearInterval(timer);
  }, [isAsked, read]);

  // What is said of a test that failed is over once a later delivery arrives.
  useEffect(() => {
    if (health.state === 'delivering' || health.state === 'partly')
      setTested((before) => (before.isBad ? { text: '', isBad: false } : before));
  }, [health.state]);

  const toggle = async () => {
    const changed = await run('toggle', () => sendChange(UpdateWebhook, { webhookId, active: !active }));
    if (changed) onChanged(changed.webhook, `${title} is ${changed.webhook.active ? 'active' : 'paused'}.`);
  };
  const connect = async () => {
    const changed = await run('connect', () => sendChange(ConnectWebhook, { webhookId }));
    if (changed === null) return;
    onChanged(
      changed.webhook,
      `${title} delivers here.${url === null ? '' : ` Its URL was ${shorten(url, 2000)}`}`,
    );
    // The button with the focus is gone.
    requestAnimationFrame(() => actions.current?.querySelector('button')?.focus());
  };
  const test = async () => {
    if (isTesting) return;
    setTesting(true);
    for await (const { text, isBad = false } of sendTestEvent(webhook, onChanged)) setTested({ text, isBad });
    setTesting(false);
  };
  const toggling = active ? 'Pausing…' : 'Resuming…';
  const common = { of: title, disabled: running !== null };

  return html`<li class="webhook stack" data-webhook=${webhookId} data-state=${health.state}>
    <div class="bar webhook-head">
      <div class="bar">
        <${isPart ? 'h4' : 'h3'} class="webhook-title">${isPart ? typeOf(webhook) : title}<//>
        ${!isPart && html`<span class="tag">${typeOf(webhook)}</span>`}
        <${StateTag} state=${health.state} />
      </div>
      <${Day} of=${title} lastDay=${lastDay} webhooks=${[webhook]} />
    </div>
    <${Reasons} ...${health} />
    <p class="quiet">${destinationOf(webhook)} · ${chainsOf(webhook, nameOf)}${filters.length > 0 && ` · only ${filters.join(', ')}`}</p>
    <div class="bar actions" ref=${actions}>
      <${Action} of=${`of ${title}`} kind="toggle" isOpen=${isOpen} onClick=${() => setOpen(isOpen ? '' : webhookId)}>Deliveries<//>
      <button type="button" aria-disabled=${isTesting} onClick=${test}>Send test event<span class="visually-hidden"> to ${title}</span></button>
      <${Action} ...${common} onClick=${() => onOpen('edit')}>Edit<//>
      <${Action} ...${common} onClick=${() => onOpen('addresses')}>Addresses<//>
      <${Action} ...${common} kind="webhook-toggle" onClick=${toggle}>${running === 'toggle' ? toggling : active ? 'Pause' : 'Resume'}<//>
      ${!deliversHere && html`<${Action} ...${common} onClick=${connect}>${running === 'connect' ? 'Pointing…' : 'Point here'}<//>`}
      <${Action} ...${common} kind="danger" onClick=${() => onOpen('delete')}>Delete<//>
    </div>
    <p class=${tested.isBad ? 'bad' : 'good'} role="status">${tested.text}</p>
    <${FaultNotice} fault=${fault} />
    ${
      isOpen &&
      html`<${Deliveries} webhooks=${[webhook]} newest=${lastDay?.newest ?? null} live=${{ webhook: webhookId }} onStale=${read}>
      <span class="quiet">${createdAt !== null && html`Created <${Time} value=${createdAt} now=${Date.now()} />${' · '}`}id <${Hash} value=${webhookId} label="webhook id" /></span>
    <//>`
    }
  </li>`;
};

type DeleteDialogProps = {
  webhook: Webhook;
  /** What remains of a watch without this webhook; null if it belongs to none. */
  left: string | null;
  onDeleted: () => void;
  onStale: () => void;
  onClose: () => void;
};

export const DeleteDialog = ({ webhook, left, onDeleted, onStale, onClose }: DeleteDialogProps) => {
  const { webhookId } = webhook;
  const remove = () => sendChange(DeleteWebhook, { webhookId });
  return html`<${ConfirmDialog} title="Delete this webhook?" action="Delete" busy="Deleting…" save=${remove} onDone=${onDeleted} onStale=${onStale} onClose=${onClose}>
    <p><strong>${titleOf(webhook)}</strong> (${typeOf(webhook)}, <code>${webhookId}</code>)</p>
    <p>It and its list of addresses are deleted, and can’t be brought back. Its past deliveries stay.</p>
    ${left !== null && html`<p>${left}</p>`}
  <//>`;
};
