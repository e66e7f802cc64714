import { useState } from 'preact/hooks';
import { UpdateWebhook } from '../../__generated__/operations.ts';
import { Dialog } from '../../components/dialog.ts';
import { html } from '../../html.ts';
import { sendChange } from '../change.ts';
import { FaultNotice } from '../fault-notice.ts';
import { titleOf, typeOf, type Webhook } from '../webhook-words.ts';
import { changesOf, draftOf, type Settings, settingsOf } from './draft.ts';
import { wrongSettings } from './draft-checks.ts';
import { FilterFields } from './filter-fields.ts';
import { FormButtons, TextField } from './form-fields.ts';
import { useForm } from './use-form.ts';

/** The gateway finds the webhooks of a watched wallet by this name and by their URL. */
const WATCHES = 'watchWallet ';

const WatchHint = ({ webhook }: { webhook: Webhook }) =>
  webhook.deliversHere && webhook.name?.startsWith(WATCHES)
    ? html`<p class="notice">The gateway watches a wallet with this webhook. Another name or URL ends that.</p>`
    : null;

type Props = {
  webhook: Webhook;
  onChanged: (webhook: Webhook) => void;
  onStale: () => void;
  onClose: () => void;
};

export const EditDialog = ({ webhook, onChanged, onStale, onClose }: Props) => {
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
