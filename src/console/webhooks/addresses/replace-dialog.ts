import { ReplaceWebhookAddresses } from '../../__generated__/operations.ts';
import { html } from '../../html.ts';
import { sendChange } from '../change.ts';
import { ConfirmDialog } from '../confirm-dialog.ts';
import type { Removal } from './address-pages.ts';
import { inAddresses } from './pasted-addresses.ts';

type Props = {
  webhookId: string;
  addresses: readonly string[];
  removal: Removal;
  onReplaced: (addresses: readonly string[]) => void;
  onStale: () => void;
  onClose: () => void;
};

const removed = ({ count, isWhole }: Removal): string => {
  if (count === 0 && isWhole) return 'None of those that are in it now is removed.';
  return `${isWhole ? '' : 'At least '}${inAddresses(count)} that ${count === 1 ? 'is' : 'are'} in it now will be removed.`;
};

export const ReplaceDialog = ({ webhookId, addresses, removal, onReplaced, onStale, onClose }: Props) => {
  const replace = () =>
    sendChange(
      ReplaceWebhookAddresses,
      { input: { webhookId, addresses } },
      (data) => data.replaceWebhookAddresses,
    );
  const done = (payload: { readonly addresses: readonly string[] }) => onReplaced(payload.addresses);
  return html`<${ConfirmDialog} title="Replace all addresses?" action="Replace all" busy="Replacing…" save=${replace} onDone=${done} onStale=${onStale} onClose=${onClose}>
    <p>The list becomes the ${inAddresses(addresses.length)} that you pasted.</p>
    <p>${removed(removal)}</p>
  <//>`;
};
