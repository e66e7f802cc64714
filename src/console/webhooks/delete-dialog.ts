import { DeleteWebhook } from '../__generated__/operations.ts';
import { html } from '../html.ts';
import { sendChange } from './change.ts';
import { ConfirmDialog } from './confirm-dialog.ts';
import { titleOf, typeOf, type Webhook } from './webhook-words.ts';

type Props = { webhook: Webhook; onDeleted: () => void; onStale: () => void; onClose: () => void };

export const DeleteDialog = ({ webhook, onDeleted, onStale, onClose }: Props) => {
  const { webhookId } = webhook;
  const remove = () => sendChange(DeleteWebhook, { input: { webhookId } }, (data) => data.deleteWebhook);
  return html`<${ConfirmDialog} title="Delete this webhook?" action="Delete" busy="Deleting…" save=${remove} onDone=${onDeleted} onStale=${onStale} onClose=${onClose}>
    <p class="webhook-name"><strong>${titleOf(webhook)}</strong> (${typeOf(webhook)}, <code>${webhookId}</code>)</p>
    <p>It and its list of addresses are deleted, and can’t be brought back. Its past deliveries stay.</p>
  <//>`;
};
