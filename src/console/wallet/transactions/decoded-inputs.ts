import type { ComponentChildren } from 'preact';
import { Address } from '../../components/copyable.ts';
import { Facts } from '../../components/facts.ts';
import { inWords, shorten } from '../../format/text.ts';
import { html } from '../../html.ts';
import { isAddress } from '../../state/route.ts';
import type { Decoded } from './decoded-text.ts';

const MOST_INPUTS = 50;
const MOST_CHARACTERS = 2000;

const shown = (type: string | null, value: unknown): ComponentChildren => {
  if (value === null || value === undefined) return html`<span class="quiet">not decoded</span>`;
  if (typeof value !== 'string')
    return html`<code class="value">${shorten(JSON.stringify(value, null, 1), MOST_CHARACTERS)}</code>`;
  if (type === 'address' && isAddress(value)) return html`<${Address} value=${value} />`;
  return value === ''
    ? html`<span class="quiet">empty</span>`
    : html`<code class="value">${shorten(value, MOST_CHARACTERS)}</code>`;
};

/** The parameters of a call or of an event, each with its type. */
export const DecodedInputs = ({ decoded }: { decoded: Decoded }) => {
  const { name, inputs } = decoded;
  const others = inputs.length - MOST_INPUTS;
  return html`<div class="stack">
    <p>${inWords(shorten(name ?? 'unnamed', 200))}${inputs.length === 0 && ', without parameters'}</p>
    <${Facts} facts=${inputs
      .slice(0, MOST_INPUTS)
      .map((input, index) => [
        html`${shorten(input.name || `parameter ${index + 1}`, 60)} <code>${shorten(input.type ?? '', 60)}</code>`,
        shown(input.type, input.value),
      ])} />
    ${others > 0 && html`<p class="quiet">and ${others} more parameters</p>`}
  </div>`;
};
