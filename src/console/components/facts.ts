import type { ComponentChildren } from 'preact';
import { html } from '../html.ts';

export type Fact = readonly [name: ComponentChildren, value: ComponentChildren];

/** Names with their values. Those without a value are left out. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) =>
  html`<dl class="facts">
    ${facts
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
  </dl>`;
