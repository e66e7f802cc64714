import { useRef, useState } from 'preact/hooks';
import { CreateWebhook, UpdateWebhook, Webhooks } from '../__generated__/operations.ts';
import { type Problem, send } from '../api/client.ts';
import { type Item, type LoadPage, type Paged, useConnection } from '../api/use-connection.ts';
import { Dialog, Empty, html, LoadMore, ProblemNotice, Skeleton } from '../components.ts';
import { settings } from '../settings.ts';
import { AddressesDialog } from './addresses.ts';
import { eachOnce, FaultNotice, sendChange } from './change.ts';
import {
  type Creation,
  changesOf,
  countOf,
  creationOf,
  draftOf,
  NEW_WEBHOOK,
  parseAddresses,
  type Settings,
  settingsOf,
  wrongCreation,
  wrongSettings,
} from './draft.ts';
import { Choice, FilterFields, FormButtons, TextField, useForm } from './form-fields.ts';
import { DeleteDialog, type RowDialog, WebhookRow } from './webhook-row.ts';
import { TYPES, titleOf, typeOf, type Webhook } from './webhook-words.ts';

/** The dialog that is open. */
type Opened = { readonly dialog: 'create' } | { readonly dialog: RowDialog; readonly webhook: Webhook };

/** The key's webhooks, and all that can be done with them. */
export const WebhooksView = () => {
  const list = useWebhooks();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [status, setStatus] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);

  /** A change that completes late closes only its own dialog. */
  const close = () => setOpened((current) => (current === opened ? null : current));
  const onCreated = (webhook: Webhook | null) => {
    list.created(webhook);
    setStatus(webhook === null ? 'It was created.' : `${titleOf(webhook)} was created, and is active.`);
    close();
  };
  const onChanged = (webhook: Webhook, said: string) => {
    list.changed(webhook);
    setStatus(said);
  };
  const onEdited = (webhook: Webhook) => {
    onChanged(webhook, `${titleOf(webhook)} was saved.`);
    close();
  };
  const onDeleted = (webhook: Webhook) => {
    list.deleted(webhook);
    setStatus(`${titleOf(webhook)} was deleted. Its past deliveries stay.`);
    close();
    // The focused button is gone with its row.
    requestAnimationFrame(() => heading.current?.focus());
  };

  const dialogOf = (shown: Opened) => {
    const common = { onStale: list.reload, onClose: close };
    if (shown.dialog === 'create') return html`<${CreateDialog} ...${common} onCreated=${onCreated} />`;
    const { webhook, dialog } = shown;
    if (dialog === 'edit')
      return html`<${EditDialog} ...${common} webhook=${webhook} onChanged=${onEdited} />`;
    if (dialog === 'addresses') return html`<${AddressesDialog} webhook=${webhook} onClose=${close} />`;
    return html`<${DeleteDialog} ...${common} webhook=${webhook} onDeleted=${() => onDeleted(webhook)} />`;
  };

  return html`<section class="stack webhooks" aria-labelledby="webhooks-title">
    <div class="bar">
      <h2 id="webhooks-title" ref=${heading} tabindex="-1">Webhooks</h2>
      ${!isOutOfScope(list) && html`<button type="button" class="primary push" onClick=${() => setOpened({ dialog: 'create' })}>New webhook</button>`}
    </div>
    <p class="quiet">Each delivers the events of its addresses to a URL. Those that deliver here are seen under Live.</p>
    <p class="webhooks-status" role="status">${status}</p>
    <${WebhookList} list=${list} onOpen=${(dialog: RowDialog, webhook: Webhook) => setOpened({ dialog, webhook })} onChanged=${onChanged} />
    ${opened !== null && dialogOf(opened)}
  </section>`;
};

type Props = {
  list: Paged<Webhook>;
  onOpen: (dialog: RowDialog, webhook: Webhook) => void;
  onChanged: (webhook: Webhook, status: string) => void;
};

/** Whether the token lacks the scope. A key that may not list webhooks is refused by the service, and has no scopes. */
const isOutOfScope = ({ problem }: Paged<Webhook>): boolean =>
  problem?.code === 'FORBIDDEN' && settings.auth === 'jwt';

const NeedsScope = ({ message }: { message: string }) =>
  html`<div class="notice is-error" role="alert">
    <strong>Webhooks need the scope “webhooks”</strong>
    <p>It is for administrators: your token does not name it. Sign out to enter another token.</p>
    <p class="quiet">${message}</p>
  </div>`;

const WebhookList = ({ list, onOpen, onChanged }: Props) => {
  const { items, isLoading, problem, malformed, reload } = list;
  if (items.length === 0) {
    if (problem !== null && isOutOfScope(list)) return html`<${NeedsScope} message=${problem.message} />`;
    if (problem !== null) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
    if (isLoading) return html`<div class="webhooks-loading"><${Skeleton} rows=${3} /></div>`;
    return html`<${Empty} title="No webhooks yet">Create one: the events of its addresses appear under Live.<//>`;
  }
  return html`
    ${malformed > 0 && html`<p class="quiet">Of what the service sent, ${malformed} can’t be read and ${malformed === 1 ? 'is' : 'are'} left out.</p>`}
    <ul class="rows panel" aria-label="Webhooks">
      ${items.map(
        ({ node }) =>
          html`<${WebhookRow} key=${node.id} webhook=${node} onOpen=${(dialog: RowDialog) => onOpen(dialog, node)} onChanged=${onChanged} onStale=${reload} />`,
      )}
    </ul>
    <${LoadMore} list=${list} what="webhooks" />`;
};

const PAGE = 20;

const NO_LIST: Problem = {
  code: 'UPSTREAM_REJECTED',
  message: 'The service does not list webhooks.',
  path: [],
  retryAfterMs: null,
};

const load: LoadPage<Webhook> = async (after, signal) => {
  const { data, problems } = await send(Webhooks, { first: PAGE, after }, signal);
  const connection = data?.webhooks ?? null;
  return { connection, problems: connection === null && problems.length === 0 ? [NO_LIST] : problems };
};

type List = Paged<Webhook> & {
  created(webhook: Webhook | null): void;
  changed(webhook: Webhook): void;
  deleted(webhook: Webhook): void;
};

/** The list of webhooks, with the changes of this page in it. */
const useWebhooks = (): List => {
  const list = useConnection(load);
  return {
    ...list,
    items: eachOnce(list.items, ({ id }) => id),
    created(node) {
      if (node === null) list.reload();
      else list.change((items) => [{ node, before: null }, ...items]);
    },
    changed(webhook) {
      const put = (item: Item<Webhook>) => (item.node.id === webhook.id ? { ...item, node: webhook } : item);
      list.change((items) => items.map(put));
    },
    deleted({ id }) {
      const left = list.items.filter(({ node }) => node.id !== id);
      list.change((items) => items.filter(({ node }) => node.id !== id));
      if (left.length === 0 && list.hasMore) list.reload();
    },
  };
};

type FormDialogsProps = {
  /** Null when the service created it and the gateway could not read it. */
  onCreated: (webhook: Webhook | null) => void;
  onStale: () => void;
  onClose: () => void;
};

const CreateDialog = ({ onCreated, onStale, onClose }: FormDialogsProps) => {
  const form = useForm<Creation>(NEW_WEBHOOK, onStale);
  const { element, draft, fault, isSaving, bind, submit } = form;
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (isSaving) return;
    const fields = [...settingsOf(draft.type), 'type', 'addresses'] as const;
    const created = await submit(wrongCreation(draft), fields, () =>
      sendChange(CreateWebhook, { input: creationOf(draft) }, (data) => data.createWebhook),
    );
    if (created) onCreated(created.webhookEdge.node);
  };
  return html`<${Dialog} title="New webhook" onClose=${onClose}>
    <form ref=${element} class="stack webhook-form" novalidate onSubmit=${onSubmit}>
      <${FaultNotice} fault=${fault} />
      <${TextField} ...${bind('name')} label="Name" hint="What you know it by." isFirst />
      <${Choice} ...${bind('type')} label="What it delivers" options=${TYPES} hint="This can’t be changed later." />
      <${TextField} ...${bind('addresses')} label="Addresses" rows=${4} hint=${countOf(parseAddresses(draft.addresses))} />
      <${TextField} ...${bind('url')} label="URL" hint="Where it delivers. Empty: this gateway, so that its events appear under Live." />
      <${FilterFields} form=${form} type=${draft.type} />
      <${FormButtons} action="Create" busy="Creating…" isSaving=${isSaving} onClose=${onClose} />
    </form>
  <//>`;
};

/** The gateway finds the webhooks of a watched wallet by this name and by their URL. */
const WATCHES = 'watchWallet ';

const WatchHint = ({ webhook }: { webhook: Webhook }) =>
  webhook.deliversHere && webhook.name?.startsWith(WATCHES)
    ? html`<p class="notice">The gateway watches a wallet with this webhook. Another name or URL ends that.</p>`
    : null;

type EditDialogProps = {
  webhook: Webhook;
  onChanged: (webhook: Webhook) => void;
  onStale: () => void;
  onClose: () => void;
};

const EditDialog = ({ webhook, onChanged, onStale, onClose }: EditDialogProps) => {
  const { webhookId, type } = webhook;
  const [before] = useState(() => draftOf(webhook));
  const form = useForm<Settings>(before, onStale);
  const { element, draft, fault, isSaving, bind, submit } = form;
  const settings = settingsOf(type);
  const changes = changesOf(draft, before, settings);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (isSaving) return;
    if (changes === null) return onClose();
    const changed = settings.filter((setting) => setting in changes);
    const updated = await submit(wrongSettings(draft, changed), settings, () =>
      sendChange(UpdateWebhook, { input: { webhookId, ...changes } }, (data) => data.updateWebhook),
    );
    if (updated) onChanged(updated.webhook);
  };
  return html`<${Dialog} title=${`Edit ${titleOf(webhook)}`} onClose=${onClose}>
    <form ref=${element} class="stack webhook-form" novalidate onSubmit=${onSubmit}>
      <${FaultNotice} fault=${fault} />
      <dl class="facts"><dt>Delivers</dt><dd>${typeOf(webhook)} (can’t be changed)</dd></dl>
      <${WatchHint} webhook=${webhook} />
      <${TextField} ...${bind('name')} label="Name" hint="Empty: no name (null)." isFirst />
      <${TextField} ...${bind('url')} label="URL" hint="Empty: none (null), so that it delivers nothing." />
      <${FilterFields} form=${form} type=${type} />
      <${FormButtons} action="Save" busy="Saving…" isSaving=${isSaving} onClose=${onClose} />
    </form>
  <//>`;
};
