import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ResendDeliveries } from '../__generated__/operations.ts';
import { useChainNames } from '../chains.ts';
import { html, LongText, Time } from '../components.ts';
import { counted, formatCount, formatTime, shorten } from '../format.ts';
import { sendChange, useChange } from './change.ts';
import { causeOf, type Tried } from './webhook-words.ts';

/** A delivery's body. */
export const Body = ({ payload }: { payload: unknown }) => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
  return html`<${LongText} text=${text} label="Payload" said="The body as the service sent it" />`;
};

type EntryProps = {
  /** Says which one it is, in the attributes of its row. */
  mark?: Readonly<Record<`data-${string}`, string>>;
  status: number | null;
  isGood: boolean;
  at: string;
  said?: ComponentChildren;
  facts: readonly unknown[];
  /** Buttons beside that which opens the body. */
  actions?: ComponentChildren;
  /** Details that can be opened. Default: none. */
  body?: () => ComponentChildren;
  children?: ComponentChildren;
};

/** One delivery in a line: what came of it and when, and its body on demand. */
export const Entry = ({ mark, status, isGood, at, said, facts, actions, body, children }: EntryProps) => {
  const [isOpen, setOpen] = useState(false);
  return html`<li class="attempt" ...${mark}>
    <div class="bar">
      <span class=${`tag ${isGood ? 'good' : 'bad'}`}>${status ?? 'no answer'}</span>
      <${Time} value=${at} now=${Date.now()} />
      ${said}
      <span class="quiet">${facts.filter(Boolean).join(' · ')}</span>
      ${body && html`<span class="push bar">${actions}<button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Payload</button></span>`}
    </div>
    ${children}
    ${isOpen && body?.()}
  </li>`;
};

/** Makes the service send deliveries again, those of one webhook after those of another, and says what came of the last time. */
export const useResend = (onSent: () => void) => {
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

type Resending = ReturnType<typeof useResend>;

type ResendProps = { of: readonly Tried[]; by: Resending; children: ComponentChildren };

export const Resend = ({ of, by: { isRunning, resend }, children }: ResendProps) =>
  html`<button type="button" disabled=${isRunning} onClick=${() => resend(of)}>${isRunning ? 'Sending…' : children}</button>`;

type RowProps = { tried: Tried; isSame: boolean; by: Resending };

/** One delivery with its attempts in their order. The reason of the last stands for all, and is said once. */
export const TriedRow = ({ tried, isSame, by }: RowProps) => {
  const { webhook, last, attempts } = tried;
  const { accepted, nextAttemptAt, payload = null } = last;
  const nameOf = useChainNames();
  const now = new Date().toISOString();
  const cause =
    !accepted &&
    !isSame &&
    html`<span title=${last.problem}>${shorten(causeOf(webhook, last), 200)}</span>, `;
  const next = nextAttemptAt === null ? 'given up' : `next attempt at ${formatTime(nextAttemptAt, now)}`;
  const body = () =>
    payload === null
      ? html`<p class="quiet">The body has ${counted(last.bytes, 'byte', 'bytes')}, and is not shown.</p>`
      : html`<${Body} payload=${payload} />`;
  return html`<${Entry} mark=${{ 'data-tried': last.deliveryId }} status=${last.status} isGood=${accepted} at=${last.attemptedAt} said=${html`<span>${cause}${accepted ? 'accepted' : next}</span>`} facts=${[nameOf(last.chainId)]} actions=${html`<${Resend} of=${[tried]} by=${by}>Resend<//>`} body=${body}>
    <ol class="bar quiet" aria-label="Attempts">
      ${attempts.toReversed().map(({ attemptedAt, latencyMs, status }, index, all) => html`<li key=${attemptedAt}><${Time} value=${attemptedAt} beside=${all[index - 1]?.attemptedAt ?? now} />: ${status ?? 'no answer'} after ${latencyMs} ms</li>`)}
    </ol>
  <//>`;
};
