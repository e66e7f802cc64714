import { useState } from 'preact/hooks';
import { ResendDeliveries } from '../__generated__/operations.ts';
import { useChainNames } from '../chain-filter.ts';
import { html, LongText, Time } from '../components.ts';
import { formatTime, shorten } from '../format.ts';
import { FaultNotice, sendChange, useChange } from './change.ts';
import type { Webhook } from './webhook-words.ts';

type Attempt = NonNullable<Webhook['attempts']>[number];

/** What came of one delivery: its attempts, the last one first. */
export type Tried = {
  readonly webhook: Webhook;
  readonly last: Attempt;
  readonly attempts: readonly Attempt[];
};

/** The deliveries that the service says to have tried. */
export const triedOf = (webhook: Webhook): readonly Tried[] =>
  [...Map.groupBy(webhook.attempts ?? [], ({ deliveryId }) => deliveryId).values()].flatMap((all) =>
    all[0] ? { webhook, last: all[0], attempts: all } : [],
  );

/** A delivery's body. */
export const Body = ({ payload }: { payload: unknown }) => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
  return html`<${LongText} text=${text} label="Payload" said="The body as the service sent it" />`;
};

type ResendProps = { of: readonly Tried[]; all?: boolean; onSent: () => void };

/** Makes the service send these again: those of one webhook after those of another. */
export const Resend = ({ of, all = false, onSent }: ResendProps) => {
  const { running, fault, run } = useChange(onSent);
  const resend = async () => {
    for (const [{ webhookId }, each] of Map.groupBy(of, ({ webhook }) => webhook)) {
      const input = { webhookId, deliveryIds: each.map(({ last }) => last.deliveryId) };
      if ((await run('resend', () => sendChange(ResendDeliveries, input))) === null) return;
    }
    onSent();
  };
  const label = all ? `Resend all that failed (${of.length})` : 'Resend';
  return html`<button type="button" disabled=${running !== null} onClick=${resend}>${running ? 'Sending…' : label}</button><${FaultNotice} fault=${fault} />`;
};

/** The reason of the gateway itself says more than the status that the service got. */
export const reasonOf = ({ webhook, last }: Tried): string =>
  webhook.refusedDeliveries?.find(({ status }) => status === last.status)?.reason ?? last.problem ?? '';

type RowProps = { tried: Tried; isSame: boolean; onSent: () => void };

/** One delivery with its attempts in their order. The reason of the last stands for all, and is said once. */
export const TriedRow = ({ tried, isSame, onSent }: RowProps) => {
  const { last, attempts } = tried;
  const [isOpen, setOpen] = useState(false);
  const nameOf = useChainNames();
  const now = Date.now();
  const next = last.nextAttemptAt === null ? 'given up' : `again at ${formatTime(last.nextAttemptAt)}`;
  return html`<li class="attempt" data-tried=${last.deliveryId}>
    <div class="bar">
      <span class=${`tag ${last.accepted ? 'good' : 'bad'}`}>${last.status ?? 'no answer'}</span>
      <${Time} value=${last.attemptedAt} now=${now} />
      <span>${last.accepted ? 'accepted' : `${isSame ? '' : `${shorten(reasonOf(tried), 200)}, `}${next}`}</span>
      <span class="quiet">${nameOf(last.chainId)}</span>
      <span class="push bar"><${Resend} of=${[tried]} onSent=${onSent} /><button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Payload</button></span>
    </div>
    <ol class="bar quiet" aria-label="Attempts">
      ${attempts.toReversed().map(({ attemptedAt, latencyMs, status }) => html`<li key=${attemptedAt}><${Time} value=${attemptedAt} />: ${status ?? 'no answer'} after ${latencyMs} ms</li>`)}
    </ol>
    ${isOpen && (last.payload === null ? html`<p class="quiet">The body has ${last.bytes} bytes, and is not shown.</p>` : html`<${Body} payload=${last.payload} />`)}
  </li>`;
};
