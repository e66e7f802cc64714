import { CreateWebhook, DeliveryUrl, UpdateWebhook } from '../__generated__/operations.ts';
import { problemHere, send } from '../api/client.ts';
import { Dialog, html } from '../components.ts';
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
import { Choice, FilterFields, FormButtons, TextField, useForm, WatchHint } from './form-fields.ts';
import { TYPES, titleOf, typeOf, type Webhook } from './webhook-words.ts';

const URL_HINT = 'Where it delivers. Empty: this gateway, so that its events appear under Live.';

type FormDialogsProps = {
  /** Null when the service created it and the gateway could not read it. */
  onCreated: (webhook: Webhook | null) => void;
  onStale: () => void;
  onClose: () => void;
};

export const CreateDialog = ({ onCreated, onStale, onClose }: FormDialogsProps) => {
  const form = useForm<Creation>(NEW_WEBHOOK, onStale);
  const { element, draft, fault, isSaving, bind, submit } = form;
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (isSaving) return;
    const fields = [...settingsOf(draft.type), 'type', 'addresses'] as const;
    const created = await submit(wrongCreation(draft), fields, () =>
      sendChange(CreateWebhook, creationOf(draft)),
    );
    if (created) onCreated(created.webhookEdge.node);
  };
  return html`<${Dialog} title="New webhook" onClose=${onClose}>
    <form ref=${element} class="stack webhook-form" novalidate onSubmit=${onSubmit}>
      <${FaultNotice} fault=${fault} />
      <${TextField} ...${bind('name')} label="Name" hint="What you know it by." isFirst />
      <${Choice} ...${bind('type')} label="What it delivers" options=${TYPES} hint="This can’t be changed later." />
      <${TextField} ...${bind('addresses')} label="Addresses" rows=${4} hint=${countOf(parseAddresses(draft.addresses))} />
      <${TextField} ...${bind('url')} label="URL" hint=${URL_HINT} />
      <${FilterFields} form=${form} type=${draft.type} />
      <${FormButtons} action="Create" busy="Creating…" isSaving=${isSaving} onClose=${onClose} />
    </form>
  <//>`;
};

const NO_URL = problemHere('INTERNAL_SERVER_ERROR', 'The gateway did not say its own URL.');

type Changes = NonNullable<ReturnType<typeof changesOf>>;

/** An emptied URL becomes this gateway's. */
const save = async (webhookId: string, changes: Changes) => {
  const input = { webhookId, ...changes };
  if (changes.url === null) {
    const { data, problems } = await send(DeliveryUrl, { webhookId });
    if (data === null) return { kind: 'failed', problem: problems[0] ?? NO_URL } as const;
    input.url = data.deliveryUrl;
  }
  return sendChange(UpdateWebhook, input);
};

type EditDialogProps = {
  webhook: Webhook;
  onChanged: (webhook: Webhook) => void;
  onStale: () => void;
  onClose: () => void;
};

export const EditDialog = ({ webhook, onChanged, onStale, onClose }: EditDialogProps) => {
  const { webhookId, type } = webhook;
  const form = useForm<Settings>(draftOf(webhook), onStale);
  const { element, draft, fault, isSaving, bind, submit } = form;
  const settings = settingsOf(type);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (isSaving) return;
    const changes = changesOf(draft, webhook);
    if (changes === null) return onClose();
    const changed = settings.filter((setting) => setting in changes);
    const updated = await submit(wrongSettings(draft, changed), settings, () => save(webhookId, changes));
    if (updated) onChanged(updated.webhook);
  };
  return html`<${Dialog} title=${`Edit ${titleOf(webhook)}`} onClose=${onClose}>
    <form ref=${element} class="stack webhook-form" novalidate onSubmit=${onSubmit}>
      <${FaultNotice} fault=${fault} />
      <dl class="facts"><dt>Delivers</dt><dd>${typeOf(webhook)} (can’t be changed)</dd></dl>
      <${WatchHint} webhook=${webhook} change="Another name or URL" />
      <${TextField} ...${bind('name')} label="Name" hint="Empty: no name." isFirst />
      <${TextField} ...${bind('url')} label="URL" hint=${webhook.url === null ? `${URL_HINT} It has none now, and delivers nothing.` : URL_HINT} />
      <${FilterFields} form=${form} type=${type} />
      <${FormButtons} action="Save" busy="Saving…" isSaving=${isSaving} onClose=${onClose} />
    </form>
  <//>`;
};
