import { useRef, useState } from 'preact/hooks';
import { WebhookList } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { type Item, type LoadPage, type Paged, useConnection } from '../api/use-connection.ts';
import { Empty, html, LoadMore, Notice, Placeholder } from '../components.ts';
import { counted } from '../format.ts';
import { useParam } from '../route.ts';
import { settings } from '../settings.ts';
import { AddressesDialog } from './addresses.ts';
import { eachOnce } from './change.ts';
import { type Health, healthOf, lastArrival, STATES } from './health.ts';
import { useLastDay } from './last-day.ts';
import { healthOfWatch, leftWithout, WatchRow } from './watch-row.ts';
import { WebhookDialog } from './webhook-form.ts';
import { DeleteDialog, type RowDialog, WebhookRow } from './webhook-row.ts';
import { titleOf, type Webhook, watchedBy } from './webhook-words.ts';

/** The dialog that is open; without a webhook, that of a new one. */
type Opened = { readonly dialog: RowDialog; readonly webhook: Webhook | null };

/** The key's webhooks: whether their events arrive, and all that can be done with them. */
export const WebhooksView = () => {
  const list = useWebhooks();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [status, setStatus] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);

  /** A change that completes late closes only its own dialog. */
  const close = () => setOpened((current) => (current === opened ? null : current));
  const onCreated = (webhook: Webhook) => {
    list.created(webhook);
    setStatus(`${titleOf(webhook)} was created, and is active.`);
    close();
  };
  const onChanged = (webhook: Webhook, said?: string) => {
    list.changed(webhook);
    if (said !== undefined) setStatus(said);
  };
  const onEdited = (webhook: Webhook) => {
    onChanged(webhook, `${titleOf(webhook)} was saved.`);
    close();
  };
  const leftOf = (webhook: Webhook): string | null => {
    const address = watchedBy(webhook);
    const watch = list.items.map(({ node }) => node).filter((each) => watchedBy(each) === address);
    return address === null ? null : leftWithout(watch, webhook);
  };
  const onDeleted = (webhook: Webhook) => {
    list.deleted(webhook);
    setStatus(`${titleOf(webhook)} was deleted. Its past deliveries stay. ${leftOf(webhook) ?? ''}`);
    close();
    // The focused button is gone with its row.
    requestAnimationFrame(() => heading.current?.focus());
  };

  const dialogOf = ({ dialog, webhook }: Opened) => {
    const common = { webhook, onStale: list.reload, onClose: close };
    if (webhook === null || dialog === 'edit')
      return html`<${WebhookDialog} ...${common} onSaved=${webhook === null ? onCreated : onEdited} />`;
    // It may have got its first address, or lost its last one.
    const forget = () => list.changed({ id: webhook.id, addresses: null });
    if (dialog === 'addresses') return html`<${AddressesDialog} ...${common} onChanged=${forget} />`;
    return html`<${DeleteDialog} ...${common} left=${leftOf(webhook)} onDeleted=${() => onDeleted(webhook)} />`;
  };

  return html`<section class="stack webhooks" aria-labelledby="webhooks-title">
    <div class="bar">
      <h2 id="webhooks-title" ref=${heading} tabindex="-1">Webhooks</h2>
      ${!isOutOfScope(list) && html`<button type="button" class="primary push" onClick=${() => setOpened({ dialog: 'edit', webhook: null })}>New webhook</button>`}
    </div>
    <p class=${status === '' ? 'quiet' : 'good'} role="status">${status || 'Each webhook delivers the events of its addresses to a URL. Events that are delivered to this gateway appear under Live.'}</p>
    <${Rows} list=${list} onOpen=${(dialog: RowDialog, webhook: Webhook) => setOpened({ dialog, webhook })} onChanged=${onChanged} onSaid=${setStatus} />
    ${opened !== null && dialogOf(opened)}
  </section>`;
};

/** Whether the token lacks the scope. A key that may not list webhooks is refused by the service, and has no scopes. */
const isOutOfScope = ({ problem }: Paged<Webhook>): boolean =>
  problem?.code === 'FORBIDDEN' && settings.auth === 'jwt';

const NeedsScope = ({ message }: { message: string }) =>
  html`<${Notice} title="Webhooks need the scope “webhooks”">
    <p>That scope is for administrators, and your token does not have it. Sign out to enter another token.</p>
    <p class="quiet">${message}</p>
  <//>`;

type Props = {
  list: List;
  onOpen: (dialog: RowDialog, webhook: Webhook) => void;
  onChanged: (webhook: Webhook, status?: string) => void;
  onSaid: (status: string) => void;
};

/** A row for each webhook, and one for all that watch a wallet, in the place of the first. */
const Rows = ({ list, onOpen, onChanged, onSaid }: Props) => {
  const { items, ownUrl, isLoading, problem, malformed, reload } = list;
  const [chosen, choose] = useParam('state');
  const lastDayOf = useLastDay(items.map(({ node }) => lastArrival(node)).join());
  if (items.length === 0) {
    if (problem !== null && isOutOfScope(list)) return html`<${NeedsScope} message=${problem.message} />`;
    return html`<div class="no-webhooks">
      <${Placeholder} rows=${3} isLoading=${isLoading} problem=${problem} onRetry=${reload}>
        <${Empty} title="No webhooks yet">Create one: the events of its addresses appear under Live.<//>
      <//>
    </div>`;
  }
  const rowOf = (isPart: boolean) => (webhook: Webhook) =>
    html`<${WebhookRow} key=${webhook.id} webhook=${webhook} isPart=${isPart} ownUrl=${ownUrl} lastDay=${lastDayOf([webhook.webhookId])} onOpen=${(dialog: RowDialog) => onOpen(dialog, webhook)} onChanged=${onChanged} onStale=${reload} />`;
  const watchRowOf = (address: string, webhooks: readonly Webhook[]) =>
    html`<${WatchRow} key=${address} address=${address} webhooks=${webhooks} ownUrl=${ownUrl} lastDay=${lastDayOf(webhooks.map(({ webhookId }) => webhookId))} rowOf=${rowOf(true)} onStale=${reload} onSaid=${onSaid} />`;
  const groups = Map.groupBy(
    items.map(({ node }) => node),
    (webhook) => watchedBy(webhook) ?? webhook,
  );
  const rows = [...groups].map(([group, webhooks]) =>
    typeof group === 'string'
      ? { state: healthOfWatch(webhooks, ownUrl).state, row: watchRowOf(group, webhooks) }
      : { state: healthOf(group, ownUrl).state, row: rowOf(false)(group) },
  );
  const shown = rows.filter(({ state }) => chosen === '' || state === chosen);
  return html`
    ${malformed > 0 && html`<p class="quiet">${counted(malformed, 'webhook', 'webhooks')} could not be read.</p>`}
    <${StateFilter} states=${rows.map(({ state }) => state)} chosen=${chosen} onChoose=${choose} />
    ${
      shown.length > 0
        ? html`<ul class="rows panel" aria-label="Webhooks">${shown.map(({ row }) => row)}</ul>`
        : html`<${Empty} title="None of the loaded webhooks is in this state"><button type="button" onClick=${() => choose('')}>Show all</button><//>`
    }
    <${LoadMore} list=${list} what="webhooks" />`;
};

type State = Health['state'];

/** What may need a hand. */
const TO_MEND: readonly State[] = ['failing', 'partly', 'paused'];

type StateFilterProps = { states: readonly State[]; chosen: string; onChoose: (state: string) => void };

/** How many rows need a hand. A click shows only those. */
const StateFilter = ({ states, chosen, onChoose }: StateFilterProps) => {
  const counts = TO_MEND.map((state) => ({ state, count: states.filter((each) => each === state).length }));
  const shown = counts.filter(({ state, count }) => count > 0 || state === chosen);
  if (shown.length === 0) return null;
  return html`<div class="bar" role="group" aria-label="Show only">
    ${shown.map(({ state, count }) => html`<button key=${state} type="button" class="state-filter" aria-pressed=${state === chosen} onClick=${() => onChoose(state === chosen ? '' : state)}><span class=${`tag ${STATES[state].tone}`}>${count}</span> ${STATES[state].word}</button>`)}
  </div>`;
};

const PAGE = 20;

type List = Paged<Webhook> & {
  /** The delivery URL of this gateway; null until it is known, and for a caller that may not see it. */
  readonly ownUrl: string | null;
  created(webhook: Webhook): void;
  /** Puts into a webhook what is known of it now. */
  changed(webhook: Pick<Webhook, 'id'> & Partial<Webhook>): void;
  deleted(webhook: Webhook): void;
};

/** The list of webhooks, with the changes of this page in it. */
const useWebhooks = (): List => {
  const [ownUrl, setOwnUrl] = useState<string | null>(null);
  const [load] = useState(() => loadWith(setOwnUrl));
  const list = useConnection(load);
  return {
    ...list,
    ownUrl,
    items: eachOnce(list.items, ({ id }) => id),
    created: (node) => list.change((items) => [{ node, before: null }, ...items]),
    changed(webhook) {
      // The answer of a change does not say what came of its attempts, and that of a closed row nothing of its addresses.
      const put = (item: Item<Webhook>) =>
        item.node.id === webhook.id ? { ...item, node: { ...item.node, ...webhook } } : item;
      list.change((items) => items.map(put));
    },
    deleted({ id }) {
      list.change((items) => items.filter(({ node }) => node.id !== id));
      if (list.items.length === 1 && list.hasMore) list.reload();
    },
  };
};

const loadWith =
  (setOwnUrl: (url: string) => void): LoadPage<Webhook> =>
  async (after, signal) => {
    const { data, problems } = await send(WebhookList, { first: PAGE, after }, signal);
    if (data) setOwnUrl(data.deliveryUrl);
    return { connection: data?.webhooks ?? null, problems };
  };
