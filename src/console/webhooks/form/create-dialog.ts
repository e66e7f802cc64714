import { CreateWebhook } from '../../__generated__/operations.ts';
import { Dialog } from '../../components/dialog.ts';
import { html } from '../../html.ts';
import { countOf, parseAddresses } from '../addresses/pasted-addresses.ts';
import { sendChange } from '../change.ts';
import { FaultNotice } from '../fault-notice.ts';
import { TYPES, type Webhook } from '../webhook-words.ts';
import { type Creation, creationOf, NEW_WEBHOOK, settingsOf } from './draft.ts';
import { wrongCreation } from './draft-checks.ts';
import { FilterFields } from './filter-fields.ts';
import { Choice, FormButtons, TextField } from './form-fields.ts';
import { useForm } from './use-form.ts';

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
