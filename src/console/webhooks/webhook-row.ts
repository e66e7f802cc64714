import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { ConnectWebhook, DeleteWebhook, UpdateWebhook } from '../__generated__/operations.ts';
import { useChains } from '../chain-filter.ts';
import { Dialog, Hash, html } from '../components.ts';
import { formatAge, formatTime, shorten } from '../format.ts';
import { hrefOf } from '../route.ts';
import { FaultNotice, type Outcome, sendChange, useChange } from './change.ts';
import { chainsOf, destinationOf, filtersOf, titleOf, typeOf, type Webhook } from './webhook-words.ts';

export type RowDialog = 'edit' | 'addresses' | 'delete';

type Props = {
  webhook: Webhook;
  onOpen: (dialog: RowDialog) => void;
  /** `status` says what has happened. */
  onChanged: (webhook: Webhook, status: string) => void;
  onStale: () => void;
};

const Facts = ({ webhook }: { webhook: Webhook }) => {
  const { webhookId, createdAt } = webhook;
  const chains = chainsOf(webhook, useChains());
  return html`<p class="quiet">${destinationOf(webhook)} · ${chains} · ${filtersOf(webhook)}</p>
    <p class="quiet">
      ${createdAt !== null && html`created <time datetime=${createdAt} title=${formatTime(createdAt)}>${formatAge(createdAt, Date.now())}</time> · `}
      id <${Hash} value=${webhookId} label="webhook id" />
    </p>`;
};

type ActionProps = {
  of: string;
  onClick: () => void;
  disabled: boolean;
  kind?: string;
  children: ComponentChildren;
};

const Action = ({ of, onClick, disabled, kind = '', children }: ActionProps) =>
  html`<button type="button" class=${kind} disabled=${disabled} onClick=${onClick}>${children}<span class="visually-hidden"> ${of}</span></button>`;

/** A webhook in words, with what can be done with it. */
export const WebhookRow = ({ webhook, onOpen, onChanged, onStale }: Props) => {
  const { webhookId, active, deliversHere, url } = webhook;
  const actions = useRef<HTMLDivElement>(null);
  const { running, fault, run } = useChange(onStale);
  const title = titleOf(webhook);

  const toggle = async () => {
    const input = { webhookId, active: !active };
    const change = () => sendChange(UpdateWebhook, { input }, (data) => data.updateWebhook);
    const changed = await run('toggle', change);
    if (changed) onChanged(changed.webhook, `${title} is ${changed.webhook.active ? 'active' : 'paused'}.`);
  };
  const connect = async () => {
    const change = () => sendChange(ConnectWebhook, { input: { webhookId } }, (data) => data.connectWebhook);
    const changed = await run('connect', change);
    if (changed === null) return;
    onChanged(
      changed.webhook,
      `${title} delivers here.${url === null ? '' : ` Its URL was ${shorten(url, 2000)}`}`,
    );
    // The button with the focus is gone.
    requestAnimationFrame(() => actions.current?.querySelector('button')?.focus());
  };
  const toggling = active ? 'Pausing…' : 'Resuming…';
  const common = { of: title, disabled: running !== null };

  return html`<li class="webhook stack">
    <div class="bar">
      <h3>${title}</h3>
      <span class="tag">${typeOf(webhook)}</span>
      <span class=${`tag ${active ? 'is-good' : 'is-warn'}`}>${active ? 'active' : 'paused'}</span>
    </div>
    <div><${Facts} webhook=${webhook} /></div>
    <div class="bar" ref=${actions}>
      <${Action} ...${common} onClick=${() => onOpen('edit')}>Edit<//>
      <${Action} ...${common} onClick=${() => onOpen('addresses')}>Addresses<//>
      <${Action} ...${common} kind="webhook-toggle" onClick=${toggle}>${running === 'toggle' ? toggling : active ? 'Pause' : 'Resume'}<//>
      ${!deliversHere && html`<${Action} ...${common} onClick=${connect}>${running === 'connect' ? 'Pointing…' : 'Point here'}<//>`}
      <a class="button" href=${hrefOf('live', [], { webhook: webhookId })}>Events<span class="visually-hidden"> of ${title}</span></a>
      <${Action} ...${common} kind="danger" onClick=${() => onOpen('delete')}>Delete<//>
    </div>
    <${FaultNotice} fault=${fault} />
  </li>`;
};

type ConfirmDialogProps<Value> = {
  title: string;
  /** What happens when it is confirmed. */
  children: ComponentChildren;
  action: string;
  busy: string;
  save: () => Promise<Outcome<Value>>;
  onDone: (value: Value) => void;
  onStale: () => void;
  onClose: () => void;
};

/** Asks for confirmation before a destructive change. */
export const ConfirmDialog = <Value>(props: ConfirmDialogProps<Value>) => {
  const { title, children, action, busy, save, onDone, onStale, onClose } = props;
  const { running, fault, run } = useChange(onStale);
  const onConfirm = async () => {
    const value = await run('confirm', save);
    if (value !== null) onDone(value);
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <div class="stack">
      <${FaultNotice} fault=${fault} />
      ${children}
      <div class="bar">
        <button type="button" autofocus onClick=${onClose}>Cancel</button>
        <button type="button" class="danger" disabled=${running !== null} onClick=${onConfirm}>${running === null ? action : busy}</button>
      </div>
    </div>
  <//>`;
};

type DeleteDialogProps = {
  webhook: Webhook;
  onDeleted: () => void;
  onStale: () => void;
  onClose: () => void;
};

export const DeleteDialog = ({ webhook, onDeleted, onStale, onClose }: DeleteDialogProps) => {
  const { webhookId } = webhook;
  const remove = () => sendChange(DeleteWebhook, { input: { webhookId } }, (data) => data.deleteWebhook);
  return html`<${ConfirmDialog} title="Delete this webhook?" action="Delete" busy="Deleting…" save=${remove} onDone=${onDeleted} onStale=${onStale} onClose=${onClose}>
    <p class="webhook-name"><strong>${titleOf(webhook)}</strong> (${typeOf(webhook)}, <code>${webhookId}</code>)</p>
    <p>It and its list of addresses are deleted, and can’t be brought back. Its past deliveries stay.</p>
  <//>`;
};
