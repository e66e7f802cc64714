import { useRef, useState } from 'preact/hooks';
import { html } from '../html.ts';
import { AddressesDialog } from './addresses/addresses-dialog.ts';
import { DeleteDialog } from './delete-dialog.ts';
import { CreateDialog } from './form/create-dialog.ts';
import { EditDialog } from './form/edit-dialog.ts';
import { useWebhooks } from './use-webhooks.ts';
import { isOutOfScope, WebhookList } from './webhook-list.ts';
import type { RowDialog } from './webhook-row.ts';
import { titleOf, type Webhook } from './webhook-words.ts';

/** The dialog that is open. */
type Opened = { readonly dialog: 'create' } | { readonly dialog: RowDialog; readonly webhook: Webhook };

/** The key's webhooks, and all that can be done with them. */
export const WebhooksView = () => {
  const list = useWebhooks();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [status, setStatus] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);

  /** A change that is done late closes its own dialog alone. */
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
    // The button that had the focus is gone with its row.
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
