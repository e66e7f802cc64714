import { CopyButton, html } from '../components.ts';
import { shorten } from '../format.ts';

/** A body may have megabytes. */
const SHOWN = 20_000;

/** A delivery's body. */
export const Payload = ({ payload }: { payload: unknown }) => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
  return html`<div>
    <p class="quiet">The body as the service sent it${text.length > SHOWN && ', of which the beginning is shown'} <${CopyButton} text=${text} label="payload" /></p>
    <pre tabindex="0" role="group" aria-label="Payload">${shorten(text, SHOWN)}</pre>
  </div>`;
};
