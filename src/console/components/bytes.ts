import { shorten } from '../format/text.ts';
import { formatCount } from '../format/units.ts';
import { html } from '../html.ts';
import { CopyButton } from './copyable.ts';

const SHOWN = 4000;

/** Bytes in hex: the first of them, and a button that copies all. */
export const Bytes = ({ value, label }: { value: string; label: string }) => {
  const bytes = Math.max(0, value.length - 2) / 2;
  if (bytes === 0) return html`<p class="quiet">empty</p>`;
  return html`<div>
    <p class="quiet">${formatCount(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}${value.length > SHOWN && ', of which the first are shown'} <${CopyButton} text=${value} label=${label} /></p>
    <pre tabindex="0" role="group" aria-label=${label}>${shorten(value, SHOWN)}</pre>
  </div>`;
};
