import { useMemo, useRef, useState } from 'preact/hooks';
import {
  ReplaceWebhookAddresses,
  UpdateWebhookAddresses,
  WebhookAddresses,
} from '../__generated__/operations.ts';
import { problemHere, send } from '../api/client.ts';
import { type Item, type LoadPage, type Paged, useConnection } from '../api/use-connection.ts';
import { Address, Dialog, Empty, html, LoadMore, Placeholder } from '../components.ts';
import { eachOnce, FaultNotice, NO_FAULT, type Outcome, sendChange, useChange } from './change.ts';
import { countOf, inAddresses, parseAddresses, wrongAddresses } from './draft.ts';
import { TextField, WatchHint } from './form-fields.ts';
import { ConfirmDialog } from './webhook-row.ts';
import { titleOf, type Webhook } from './webhook-words.ts';

type Props = {
  webhookId: string;
  onAdded: (addresses: readonly string[]) => void;
  onReplaced: (addresses: readonly string[]) => void;
  onStale: () => void;
};

/** The names that a message may give the pasted list, in either mutation. */
const FIELDS = ['addAddresses', 'addresses'];

/** Takes addresses by paste, and adds them to the list or makes them the list. */
const AddressForm = ({ webhookId, onAdded, onReplaced, onStale }: Props) => {
  const [text, setText] = useState('');
  const [removal, setRemoval] = useState<Removal | null>(null);
  const { running, fault, setFault, run } = useChange(onStale);
  const pasted = useMemo(() => parseAddresses(text), [text]);
  const { addresses } = pasted;
  const error = FIELDS.map((field) => fault.errors[field]).find((message) => message !== undefined);

  const isWrong = (): boolean => {
    const wrong = wrongAddresses(pasted);
    if (wrong !== null) {
      setFault({ ...NO_FAULT, errors: { addresses: wrong } });
      document.querySelector<HTMLElement>('#pasted-addresses')?.focus();
    }
    return wrong !== null;
  };
  const onInput = (value: string) => {
    setText(value);
    setFault(NO_FAULT);
  };
  const add = async (event: Event) => {
    event.preventDefault();
    if (running !== null || isWrong()) return;
    const input = { webhookId, addAddresses: addresses };
    const changed = await run('add', () => sendChange(UpdateWebhookAddresses, input), FIELDS);
    if (changed === null) return;
    setText('');
    onAdded(changed.added);
  };
  const askToReplace = async () => {
    if (!isWrong()) setRemoval(await run('count', () => countRemoved(webhookId, addresses)));
  };
  const replaced = (list: readonly string[]) => {
    setRemoval(null);
    setText('');
    onReplaced(list);
  };

  return html`<form class="stack webhook-form" novalidate onSubmit=${add}>
      <${FaultNotice} fault=${fault} />
      <${TextField} id="pasted-addresses" label="More addresses" rows=${4} value=${text} error=${error} hint=${countOf(pasted)} onChange=${onInput} isFirst />
      <div class="bar">
        <button type="submit" class="primary" disabled=${running !== null}>${running === 'add' ? 'Adding…' : 'Add'}</button>
        <button type="button" class="danger" disabled=${running !== null} onClick=${askToReplace}>${running === 'count' ? 'Counting…' : 'Replace all'}</button>
      </div>
    </form>
    ${removal !== null && html`<${ReplaceDialog} webhookId=${webhookId} addresses=${addresses} removal=${removal} onReplaced=${replaced} onStale=${onStale} onClose=${() => setRemoval(null)} />`}`;
};

const without = (items: readonly Item<ListedAddress>[], addresses: readonly string[]) => {
  const gone = new Set(addresses);
  return items.filter(({ node }) => !gone.has(node.address));
};

/** More of them than a page are not put into the list, which would be long: they appear where the service lists them. */
const MOST_SHOWN = 100;

type AddressesDialogProps = { webhook: Webhook; onClose: () => void };

export const AddressesDialog = ({ webhook, onClose }: AddressesDialogProps) => {
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
      <${WatchHint} webhook=${webhook} change="Another address" />
      <${AddressForm} webhookId=${webhookId} onAdded=${onAdded} onReplaced=${onReplaced} onStale=${list.reload} />
      <p class="webhooks-status" role="status">${status}</p>
      <${AddressList} webhookId=${webhookId} list=${shown} onRemoved=${onRemoved} onStale=${list.reload} />
    </div>
  <//>`;
};

type ReplaceDialogProps = {
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

const ReplaceDialog = ({
  webhookId,
  addresses,
  removal,
  onReplaced,
  onStale,
  onClose,
}: ReplaceDialogProps) => {
  const replace = () => sendChange(ReplaceWebhookAddresses, { webhookId, addresses });
  const done = (payload: { readonly addresses: readonly string[] }) => onReplaced(payload.addresses);
  return html`<${ConfirmDialog} title="Replace all addresses?" action="Replace all" busy="Replacing…" save=${replace} onDone=${done} onStale=${onStale} onClose=${onClose}>
    <p>The list becomes the ${inAddresses(addresses.length)} that you pasted.</p>
    <p>${removed(removal)}</p>
  <//>`;
};

type AddressListProps = {
  webhookId: string;
  list: Paged<ListedAddress>;
  onRemoved: (addresses: readonly string[]) => void;
  onStale: () => void;
};

/** A webhook's addresses, each with a button that removes it. */
const AddressList = ({ webhookId, list, onRemoved, onStale }: AddressListProps) => {
  const { running, fault, run } = useChange(onStale);
  const { items, isLoading, problem, malformed, reload } = list;
  const element = useRef<HTMLUListElement>(null);
  const remove = async (address: string, index: number) => {
    const input = { webhookId, removeAddresses: [address] };
    const changed = await run(address, () => sendChange(UpdateWebhookAddresses, input));
    if (changed === null) return;
    onRemoved(changed.removed);
    // The button with the focus is gone: the next one gets it.
    requestAnimationFrame(() => {
      const next = element.current?.children[index] ?? element.current?.lastElementChild;
      next?.querySelector<HTMLElement>(':scope > button')?.focus();
    });
  };
  if (items.length === 0)
    return html`<${Placeholder} rows=${4} isLoading=${isLoading} problem=${problem} onRetry=${reload}>
      <${Empty} title="No addresses">It delivers nothing until it has some.<//>
    <//>`;
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

type ListedAddress = { readonly address: string };

const PAGE = 100;
const COUNT_PAGE = 1000;
/** Beyond as many addresses, a count says "at least". */
const MOST_COUNT_PAGES = 10;

const NO_WEBHOOK = problemHere('NOT_FOUND', 'There is no such webhook. It was deleted in the meantime.');

const NO_LIST = problemHere('UPSTREAM_REJECTED', 'The service does not list the addresses.');

const loadAddresses =
  (webhookId: string, first = PAGE): LoadPage<ListedAddress> =>
  async (after, signal) => {
    const { data, problems } = await send(WebhookAddresses, { webhookId, first, after }, signal);
    const connection = data?.webhook?.addresses ?? null;
    if (connection !== null || problems.length > 0) return { connection, problems };
    return { connection, problems: [data?.webhook ? NO_LIST : NO_WEBHOOK] };
  };

type Removal = { readonly count: number; readonly isWhole: boolean };

/** Counts the addresses of the list that another list would not keep. */
const countRemoved = async (webhookId: string, kept: readonly string[]): Promise<Outcome<Removal>> => {
  const load = loadAddresses(webhookId, COUNT_PAGE);
  const { signal } = new AbortController();
  const stay = new Set(kept.map((address) => address.toLowerCase()));
  let count = 0;
  let after: string | null = null;
  for (let page = 0; page < MOST_COUNT_PAGES; page++) {
    const { connection, problems } = await load(after, signal);
    if (connection === null) return { kind: 'failed', problem: problems[0] ?? NO_LIST };
    count += connection.edges.filter((edge) => edge?.node && !stay.has(edge.node.address)).length;
    after = connection.pageInfo.endCursor;
    if (!connection.pageInfo.hasNextPage) return { kind: 'done', value: { count, isWhole: true } };
  }
  return { kind: 'done', value: { count, isWhole: false } };
};
