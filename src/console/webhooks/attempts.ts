import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ResendDeliveries } from '../__generated__/operations.ts';
import { useChainNames } from '../chains.ts';
import { html, LongText, Time } from '../components.ts';
import { counted, formatCount, formatTime, shorten } from '../format.ts';
import { sendChange, useChange } from './change.ts';
import type { Tried } from './webhook-words.ts';

/** A delivery's body. */
export const Body = ({ payload }: { payload: unknown }) => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
  return html`<${LongText} text=${text} label="Payload" said="The body as the service sent it" />`;
};

/** What a button has made the service send again. */
type Resending = {
  readonly isRunning: boolean;
  readonly resend: (of: readonly Tried[]) => void;
};

/** Makes the service send deliveries again, those of one webhook after those of another, and says what came of the last time. */
export const useResend = (
  onSent: () => void,
): Resending & { readonly said: string } & Pick<ReturnType<typeof useChange>, 'fault'> => {
  const { running, fault, run } = useChange(onSent);
  const [said, setSaid] = useState('');
  const resend = async (of: readonly Tried[]) => {
    setSaid('');
    let resent = 0;
    for (const [webhookId, each] of Map.groupBy(of, ({ webhook }) => webhook.webhookId)) {
      const input = { webhookId, deliveryIds: each.map(({ last }) => last.deliveryId) };
      const sent = await run('resend', () => sendChange(ResendDeliveries, input));
      if (sent === null) return;
      resent += sent.resent;
    }
    setSaid(resentText(resent, of.length - resent));
    onSent();
  };
  return { isRunning: running !== null, resend, said, fault };
};

/** The service remembers only the newest attempts: older ones may have gone since they were read. */
const resentText = (resent: number, gone: number): string => {
  const sent = `${resent === 0 ? 'Nothing was' : counted(resent, 'delivery was', 'deliveries were')} sent again.`;
  if (gone === 0) return sent;
  return `${sent} The service no longer knows ${resent === 0 && gone === 1 ? 'it' : `${formatCount(gone)} of those that were listed`}.`;
};

type ResendProps = { of: readonly Tried[]; by: Resending; children: ComponentChildren };

export const Resend = ({ of, by: { isRunning, resend }, children }: ResendProps) =>
  html`<button type="button" disabled=${isRunning} onClick=${() => resend(of)}>${isRunning ? 'Sending…' : children}</button>`;

/** The reason of the gateway itself says more than the status that the service got. */
export const reasonOf = ({ webhook, last }: Tried): string =>
  webhook.refusedDeliveries?.find(({ status }) => status === last.status)?.reason ?? last.problem ?? '';

type RowProps = { tried: Tried; isSame: boolean; by: Resending };

/** One delivery with its attempts in their order. The reason of the last stands for all, and is said once. */
export const TriedRow = ({ tried, isSame, by }: RowProps) => {
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
      <span class="push bar"><${Resend} of=${[tried]} by=${by}>Resend<//><button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Payload</button></span>
    </div>
    <ol class="bar quiet" aria-label="Attempts">
      ${attempts.toReversed().map(({ attemptedAt, latencyMs, status }) => html`<li key=${attemptedAt}><${Time} value=${attemptedAt} />: ${status ?? 'no answer'} after ${latencyMs} ms</li>`)}
    </ol>
    ${isOpen && ((last.payload ?? null) === null ? html`<p class="quiet">The body has ${last.bytes} bytes, and is not shown.</p>` : html`<${Body} payload=${last.payload} />`)}
  </li>`;
};
