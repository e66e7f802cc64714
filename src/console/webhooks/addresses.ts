import { useMemo, useRef, useState } from 'preact/hooks';
import {
  ReplaceWebhookAddresses,
  UpdateWebhookAddresses,
  WebhookAddresses,
} from '../__generated__/operations.ts';
import { problemHere, send } from '../api/client.ts';
import { type Item, type LoadPage, useConnection } from '../api/use-connection.ts';
import { Address, Dialog, Empty, html, LoadMore, Placeholder } from '../components.ts';
import {
  ConfirmDialog,
  eachOnce,
  FaultNotice,
  NO_FAULT,
  type Outcome,
  sendChange,
  useChange,
} from './change.ts';
import { Field } from './field.ts';
import { inAddresses, parseAddresses } from './pasted-addresses.ts';
import { WatchHint } from './webhook-form.ts';
import { titleOf, type Webhook } from './webhook-words.ts';

type ListedAddress = { readonly address: string };

const without = (items: readonly Item<ListedAddress>[], addresses: readonly string[]) => {
  const gone = new Set(addresses);
  return items.filter(({ node }) => !gone.has(node.address));
};

/** The names that a message may give the pasted list, in either mutation. */
const FIELDS = ['addAddresses', 'addresses'];

/** More of them than a page are not put into the list, which would be long: they appear where the service lists them. */
const MOST_SHOWN = 100;

type Props = { webhook: Webhook; onChanged: () => void; onClose: () => void };

/** A webhook's addresses, each with a button that removes it. A pasted text adds more, or becomes the list. */
export const AddressesDialog = ({ webhook, onChanged, onClose }: Props) => {
  const { webhookId } = webhook;
  const list = useConnection(useMemo(() => loadAddresses(webhookId), [webhookId]));
  const { isLoading, problem, malformed, reload } = list;
  const { running, fault, setFault, run } = useChange(reload);
  const [text, setText] = useState('');
  const [status, setStatus] = useState('');
  const [removal, setRemoval] = useState<Removal | null>(null);
  const element = useRef<HTMLUListElement>(null);
  const pasted = useMemo(() => parseAddresses(text), [text]);
  const { addresses } = pasted;
  const items = eachOnce(list.items, ({ address }) => address);
  const error = FIELDS.map((field) => fault.errors[field]).find((message) => message !== undefined);

  const isWrong = (): boolean => {
    if (pasted.wrong === null) return false;
    setFault({ ...NO_FAULT, errors: { addresses: pasted.wrong } });
    document.querySelector<HTMLElement>('#pasted-addresses')?.focus();
    return true;
  };
  const done = (said: string) => {
    setRemoval(null);
    setText('');
    setStatus(said);
    onChanged();
  };
  const add = async (event: Event) => {
    event.preventDefault();
    if (running !== null || isWrong()) return;
    const input = { webhookId, addAddresses: addresses };
    const changed = await run('add', () => sendChange(UpdateWebhookAddresses, input), FIELDS);
    if (changed === null) return;
    const { added } = changed;
    const rows = added.map((address) => ({ node: { address }, before: null }));
    if (added.length > MOST_SHOWN) reload();
    else list.change((before) => [...rows, ...without(before, added)]);
    done(`${inAddresses(added.length)} added, or already in the list.`);
  };
  const remove = async (address: string, index: number) => {
    const input = { webhookId, removeAddresses: [address] };
    const changed = await run(address, () => sendChange(UpdateWebhookAddresses, input));
    if (changed === null) return;
    list.change((before) => without(before, changed.removed));
    if (without(list.items, changed.removed).length === 0 && list.hasMore) reload();
    setStatus(`Removed ${changed.removed.join(', ')}.`);
    onChanged();
    // The button with the focus is gone: the next one gets it.
    requestAnimationFrame(() => {
      const next = element.current?.children[index] ?? element.current?.lastElementChild;
      next?.querySelector<HTMLElement>(':scope > button')?.focus();
    });
  };
  const askToReplace = async () => {
    if (!isWrong()) setRemoval(await run('count', () => countRemoved(webhookId, addresses)));
  };
  const replace = () => sendChange(ReplaceWebhookAddresses, { webhookId, addresses });
  const onReplaced = (payload: { readonly addresses: readonly string[] }) => {
    reload();
    done(`The list is the ${inAddresses(payload.addresses.length)} that you pasted.`);
  };
  const onText = (value: string) => {
    setText(value);
    setFault(NO_FAULT);
  };

  return html`<${Dialog} title=${`Addresses of ${titleOf(webhook)}`} onClose=${onClose}>
    <div class="stack">
      <${WatchHint} webhook=${webhook} change="Another address" />
      <form class="stack webhook-form" novalidate onSubmit=${add}>
        <${Field} id="pasted-addresses" label="More addresses" rows=${4} value=${text} error=${error} hint=${pasted.found} onChange=${onText} isFirst />
        <div class="bar">
          <button type="submit" class="primary" disabled=${running !== null}>${running === 'add' ? 'Adding…' : 'Add'}</button>
          <button type="button" class="danger" disabled=${running !== null} onClick=${askToReplace}>${running === 'count' ? 'Counting…' : 'Replace all'}</button>
        </div>
      </form>
      <${FaultNotice} fault=${fault} />
      <p class="good" role="status">${status}</p>
      ${malformed > 0 && html`<p class="quiet">${inAddresses(malformed)} could not be read.</p>`}
      ${
        items.length === 0
          ? html`<${Placeholder} rows=${4} isLoading=${isLoading} problem=${problem} onRetry=${reload}>
              <${Empty} title="No addresses">It delivers nothing until it has some.<//>
            <//>`
          : html`<ul ref=${element} class="rows webhook-addresses" aria-label="Addresses">
                ${items.map(
                  ({ node: { address } }, index) => html`<li key=${address}>
                    <${Address} value=${address} />
                    <button type="button" disabled=${running !== null} onClick=${() => remove(address, index)}>${running === address ? 'Removing…' : 'Remove'}<span class="visually-hidden"> ${address}</span></button>
                  </li>`,
                )}
              </ul>
              <${LoadMore} list=${{ ...list, items }} what="addresses" />`
      }
    </div>
    ${
      removal !== null &&
      html`<${ConfirmDialog} title="Replace all addresses?" action="Replace all" busy="Replacing…" save=${replace} onDone=${onReplaced} onStale=${reload} onClose=${() => setRemoval(null)}>
        <p>The list becomes the ${inAddresses(addresses.length)} that you pasted.</p>
        <p>${removedText(removal)}</p>
      <//>`
    }
  <//>`;
};

const removedText = ({ count, isWhole }: Removal): string => {
  if (count === 0 && isWhole) return 'None of the present addresses is removed.';
  return `${isWhole ? '' : 'At least '}${inAddresses(count)} of the present list will be removed.`;
};

const PAGE = 100;
const COUNT_PAGE = 1000;
/** Beyond as many addresses, a count says "at least". */
const MOST_COUNT_PAGES = 10;

const NO_WEBHOOK = problemHere('NOT_FOUND', 'There is no such webhook. It was deleted in the meantime.');

const loadAddresses =
  (webhookId: string, first = PAGE): LoadPage<ListedAddress> =>
  async (after, signal) => {
    const { data, problems } = await send(WebhookAddresses, { webhookId, first, after }, signal);
    const connection = data?.webhook?.addresses ?? null;
    return { connection, problems: data?.webhook === null ? [...problems, NO_WEBHOOK] : problems };
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
    if (connection === null) return { kind: 'failed', problem: problems[0] ?? NO_WEBHOOK };
    count += connection.nodes?.filter((node) => node && !stay.has(node.address)).length ?? 0;
    after = connection.pageInfo.endCursor;
    if (!connection.pageInfo.hasNextPage) return { kind: 'done', value: { count, isWhole: true } };
  }
  return { kind: 'done', value: { count, isWhole: false } };
};
