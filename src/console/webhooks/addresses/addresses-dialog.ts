import { useMemo, useState } from 'preact/hooks';
import { type Item, useConnection } from '../../api/use-connection.ts';
import { Dialog } from '../../components/dialog.ts';
import { html } from '../../html.ts';
import { eachOnce } from '../each-once.ts';
import { titleOf, type Webhook } from '../webhook-words.ts';
import { AddressForm } from './address-form.ts';
import { AddressList } from './address-list.ts';
import { type ListedAddress, loadAddresses } from './address-pages.ts';
import { inAddresses } from './pasted-addresses.ts';

const without = (items: readonly Item<ListedAddress>[], addresses: readonly string[]) => {
  const gone = new Set(addresses);
  return items.filter(({ node }) => !gone.has(node.address));
};

/** More of them than a page are not put into the list, which would be long: they appear where the service lists them. */
const MOST_SHOWN = 100;

type Props = { webhook: Webhook; onClose: () => void };

export const AddressesDialog = ({ webhook, onClose }: Props) => {
  const { webhookId } = webhook;
  const list = useConnection(useMemo(() => loadAddresses(webhookId), [webhookId]));
  const [status, setStatus] = useState('');
  const shown = { ...list, items: eachOnce(list.items, ({ address }) => address) };
  const onAdded = (added: readonly string[]) => {
    const items = added.map((address) => ({ node: { address }, before: null }));
    if (added.length > MOST_SHOWN) list.reload();
    else list.change((before) => [...items, ...without(before, added)]);
    setStatus(`${inAddresses(added.length)} added, or in the list already.`);
  };
  const onRemoved = (removed: readonly string[]) => {
    list.change((items) => without(items, removed));
    if (without(list.items, removed).length === 0 && list.hasMore) list.reload();
    setStatus(`Removed ${removed.join(', ')}.`);
  };
  const onReplaced = (addresses: readonly string[]) => {
    list.reload();
    setStatus(`The list is the ${inAddresses(addresses.length)} that you pasted.`);
  };
  return html`<${Dialog} title=${`Addresses of ${titleOf(webhook)}`} onClose=${onClose}>
    <div class="stack">
      <${AddressForm} webhookId=${webhookId} onAdded=${onAdded} onReplaced=${onReplaced} onStale=${list.reload} />
      <p class="webhooks-status" role="status">${status}</p>
      <${AddressList} webhookId=${webhookId} list=${shown} onRemoved=${onRemoved} onStale=${list.reload} />
    </div>
  <//>`;
};
