import { useState } from 'preact/hooks';
import { UnwatchWallet, WatchWallet, type WebhookType } from '../__generated__/operations.ts';
import { Address, html } from '../components.ts';
import { setParams, useParam } from '../route.ts';
import { ConfirmDialog, FaultNotice, sendChange, useChange } from './change.ts';
import { Deliveries } from './deliveries.ts';
import { type Health, healthOf } from './health.ts';
import type { LastDay } from './last-day.ts';
import { Action, Day, Reasons, StateTag } from './webhook-row.ts';
import { ALL_TYPES, filtersOf, inTypes, TYPES, typeOf, type Webhook } from './webhook-words.ts';

/** The types of events that reach the gateway: their webhooks are active, point here, and have no filter. */
const deliveredBy = (webhooks: readonly Webhook[]): readonly WebhookType[] =>
  ALL_TYPES.filter((type) =>
    webhooks.some((webhook) => webhook.type === type && webhook.active && filtersOf(webhook).length === 0),
  );

/** What is left of a watch without one of its webhooks. */
export const leftWithout = (webhooks: readonly Webhook[], gone: Webhook): string => {
  const left = deliveredBy(webhooks.filter(({ webhookId }) => webhookId !== gone.webhookId));
  return left.length === 0
    ? 'Without it, the wallet is not watched any more.'
    : `Without it, the wallet is watched for ${inTypes(left)} only.`;
};

export const healthOfWatch = (webhooks: readonly Webhook[], ownUrl: string | null): Health => {
  const delivered = deliveredBy(webhooks);
  const healths = webhooks.map((webhook) => ({ ...healthOf(webhook, ownUrl), of: typeOf(webhook) }));
  const failing = healths.filter(({ state }) => state === 'failing');
  if (failing.length > 0)
    return { state: 'failing', reasons: failing.map(({ of, reasons }) => `${of}: ${reasons.join(' ')}`) };
  const missing = ALL_TYPES.filter((type) => !delivered.includes(type));
  if (delivered.length === 0)
    return {
      state: 'paused',
      reasons: ['None of its webhooks delivers everything: they are paused, or have filters.'],
    };
  if (missing.length > 0)
    return {
      state: 'partly',
      reasons: [`It delivers ${inTypes(delivered)}, not ${inTypes(missing)}.`],
    };
  return healths.find(({ state }) => state === 'delivering') ?? { state: 'waiting', reasons: [] };
};

type Props = {
  /** The watched wallet. */
  address: string;
  /** Its webhooks, one for each type at most. */
  webhooks: readonly Webhook[];
  lastDay: LastDay | null;
  ownUrl: string | null;
  /** The row of one of its webhooks. */
  rowOf: (webhook: Webhook) => ReturnType<typeof html>;
  /** The list is to be read again. */
  onStale: () => void;
  /** `status` says what has happened. */
  onSaid: (status: string) => void;
};

/** The webhooks that watch one wallet, in one row: which of its events are delivered, and each of them below on demand. */
export const WatchRow = ({ address, webhooks, lastDay, ownUrl, rowOf, onStale, onSaid }: Props) => {
  const { running, fault, run } = useChange(onStale);
  const [isStopping, setStopping] = useState(false);
  const [open, setOpen] = useParam('open');
  const [shown] = useParam('watch');
  const isOpen = open === address;
  const isShown = shown === address;
  const delivered = deliveredBy(webhooks);
  const health = healthOfWatch(webhooks, ownUrl);
  const title = `the watch of ${address}`;

  const repair = async () => {
    const input = { address, chainIds: webhooks[0]?.chainIds ?? null };
    const changed = await run('repair', () => sendChange(WatchWallet, input));
    if (changed === null) return;
    onSaid(`${address} is watched for ${inTypes(changed.watchedWallet.types)}.`);
    onStale();
  };
  const stop = () => sendChange(UnwatchWallet, { address });
  const onStopped = () => {
    setStopping(false);
    onSaid(`${address} is not watched any more. Its past deliveries stay.`);
    onStale();
  };

  return html`<li class="webhook stack" data-watch=${address} data-state=${health.state}>
    <div class="bar webhook-head">
      <div class="bar">
        <h3 class="webhook-title">Watching <${Address} value=${address} /></h3>
        <${StateTag} state=${health.state} />
      </div>
      <${Day} of=${title} lastDay=${lastDay} webhooks=${webhooks} />
    </div>
    <ul class="bar" aria-label="What it delivers">
      ${ALL_TYPES.map((type) => {
        const [tone, word] = statusOf(webhooks.find((webhook) => webhook.type === type));
        return html`<li key=${type} class=${`tag ${tone}`}>${TYPES[type]}${word}</li>`;
      })}
    </ul>
    <${Reasons} ...${health} />
    <div class="bar actions">
      <${Action} of=${`of ${title}`} kind="toggle" isOpen=${isOpen} onClick=${() => setOpen(isOpen ? '' : address)}>Deliveries<//>
      <${Action} of=${`of ${title}`} kind="toggle" isOpen=${isShown} onClick=${() => setParams({ watch: isShown ? '' : address, open: isShown && !isOpen ? '' : open })}>${webhooks.length === 1 ? 'Its webhook' : `Its ${webhooks.length} webhooks`}<//>
      ${delivered.length < ALL_TYPES.length && html`<${Action} of=${address} disabled=${running !== null} onClick=${repair}>${running === 'repair' ? 'Watching…' : 'Watch everything'}<//>`}
      <${Action} of=${address} disabled=${running !== null} kind="danger" onClick=${() => setStopping(true)}>Stop watching<//>
    </div>
    <${FaultNotice} fault=${fault} />
    ${isOpen && html`<${Deliveries} webhooks=${webhooks} newest=${lastDay?.newest ?? null} live=${{ address }} onStale=${onStale} />`}
    ${isShown && html`<ul class="rows webhook-parts" aria-label=${`Webhooks of ${title}`}>${webhooks.map(rowOf)}</ul>`}
    ${
      isStopping &&
      html`<${ConfirmDialog} title="Stop watching?" action="Stop watching" busy="Stopping…" save=${stop} onDone=${onStopped} onStale=${onStale} onClose=${() => setStopping(false)}>
        <p>The ${webhooks.length === 1 ? 'webhook' : `${webhooks.length} webhooks`} of <code>${address}</code> ${webhooks.length === 1 ? 'is' : 'are'} deleted. Past deliveries stay.</p>
      <//>`
    }
  </li>`;
};

/** Whether the events of a type are delivered, or why not. */
const statusOf = (webhook: Webhook | undefined): readonly [tone: string, word: string] => {
  if (webhook === undefined) return ['', ': none'];
  if (!webhook.active) return ['warn', ': paused'];
  return filtersOf(webhook).length > 0 ? ['warn', ': filtered'] : ['good', ''];
};
