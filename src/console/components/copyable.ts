import { useState } from 'preact/hooks';
import { shortHex } from '../format/text.ts';
import { html } from '../html.ts';
import { nameOf } from '../settings.ts';
import { hrefOf } from '../state/route.ts';

const COPIED_MS = 1500;

const copy = async (text: string): Promise<void> => {
  // Without TLS the clipboard is there on loopback only.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
};

/** A button that copies the text, and says that it did. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [copied, setCopied] = useState(false);
  const onClick = async () => {
    await copy(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return html`<button type="button" class="copy" onClick=${onClick} aria-label=${copied ? `${label} copied` : `Copy ${label}`} title=${copied ? 'Copied' : `Copy ${label}`}>
    <svg aria-hidden="true" viewBox="0 0 16 16"><path d=${copied ? 'M3 8.5 6.5 12 13 4.5' : 'M6 5V2.5h7.5V10H11M2.5 5H10v8.5H2.5Z'} /></svg>
  </button>`;
};

/** A hash, shortened, with a button that copies it whole. */
export const Hash = ({ value, label = 'hash' }: { value: string; label?: string }) =>
  html`<span class="hex"><span title=${value}>${shortHex(value)}</span><${CopyButton} text=${value} label=${label} /></span>`;

/** An address by its name or shortened, which leads to its wallet, with a button that copies it. */
export const Address = ({ value }: { value: string }) =>
  html`<span class="hex"><a href=${hrefOf('wallet', [value])} title=${value}>${nameOf(value) ?? shortHex(value)}</a><${CopyButton} text=${value} label="address" /></span>`;
