import { useState } from 'preact/hooks';
import { CreateWebhook, UpdateWebhook } from '../__generated__/operations.ts';
import { Dialog } from '../components.ts';
import { html } from '../html.ts';
import { FaultNotice, sendChange } from './change.ts';
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
import { TYPES, titleOf, typeOf, type Webhook } from './webhook-words.ts';

type Props = {
  /** Null when the service created it and the gateway could not read it. */
  onCreated: (webhook: Webhook | null) => void;
  onStale: () => void;
  onClose: () => void;
};

export const CreateDialog = ({ onCreated, onStale, onClose }: Props) => {
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

export const EditDialog = ({ webhook, onChanged, onStale, onClose }: EditDialogProps) => {
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
