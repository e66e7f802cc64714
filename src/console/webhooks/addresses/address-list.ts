import { useRef } from 'preact/hooks';
import { UpdateWebhookAddresses } from '../../__generated__/operations.ts';
import type { Paged } from '../../api/use-connection.ts';
import { Address } from '../../components/copyable.ts';
import { LoadMore } from '../../components/load-more.ts';
import { Empty, ProblemNotice, Skeleton } from '../../components/notice.ts';
import { html } from '../../html.ts';
import { sendChange } from '../change.ts';
import { FaultNotice } from '../fault-notice.ts';
import { useChange } from '../use-change.ts';
import type { ListedAddress } from './address-pages.ts';

type Props = {
  webhookId: string;
  list: Paged<ListedAddress>;
  onRemoved: (addresses: readonly string[]) => void;
  onStale: () => void;
};

/** A webhook's addresses, each with a button that removes it. */
export const AddressList = ({ webhookId, list, onRemoved, onStale }: Props) => {
  const { running, fault, run } = useChange(onStale);
  const { items, isLoading, problem, malformed, reload } = list;
  const element = useRef<HTMLUListElement>(null);
  const remove = async (address: string, index: number) => {
    const input = { webhookId, removeAddresses: [address] };
    const change = () => sendChange(UpdateWebhookAddresses, { input }, (data) => data.updateWebhookAddresses);
    const changed = await run(address, change);
    if (changed === null) return;
    onRemoved(changed.removed);
    // The button with the focus is gone: the next one gets it.
    requestAnimationFrame(() => {
      const next = element.current?.children[index] ?? element.current?.lastElementChild;
      next?.querySelector<HTMLElement>(':scope > button')?.focus();
    });
  };
  if (items.length === 0) {
    if (problem !== null) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
    if (isLoading) return html`<${Skeleton} rows=${4} />`;
    return html`<${Empty} title="No addresses">It delivers nothing until it has some.<//>`;
  }
  return html`
    <${FaultNotice} fault=${fault} />
    ${malformed > 0 && html`<p class="quiet">Of what the service sent, ${malformed} can’t be read and ${malformed === 1 ? 'is' : 'are'} left out.</p>`}
    <ul ref=${element} class="rows webhook-addresses" aria-label="Addresses">
      ${items.map(
        ({ node: { address } }, index) => html`<li key=${address}>
          <${Address} value=${address} />
          <button type="button" disabled=${running !== null} onClick=${() => remove(address, index)}>${running === address ? 'Removing…' : 'Remove'}<span class="visually-hidden"> ${address}</span></button>
        </li>`,
      )}
    </ul>
    <${LoadMore} list=${list} what="addresses" />`;
};
