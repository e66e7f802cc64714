import type { ComponentChildren } from 'preact';
import { shorten } from '../../format/text.ts';
import { html } from '../../html.ts';
import type { Bound } from './use-form.ts';

type Described = { id: string; hint: string; error: string | undefined };

/** The attributes of an input by which its hint and its error belong to it. */
const described = ({ id, error }: Pick<Described, 'id' | 'error'>) => ({
  'aria-invalid': error === undefined ? undefined : 'true',
  'aria-describedby': error === undefined ? `${id}-hint` : `${id}-error ${id}-hint`,
});

/** The sentences below an input. */
export const Description = ({ id, hint, error }: Described) =>
  html`${error !== undefined && html`<p class="error" id=${`${id}-error`}>${shorten(error, 600)}</p>`}
    <p class="hint" id=${`${id}-hint`}>${hint}</p>`;

type TextProps = Bound<string> & {
  label: string;
  hint: string;
  /** With it, the field has many lines. */
  rows?: number;
  isFirst?: boolean;
};

export const TextField = ({ label, hint, rows, isFirst, ...bound }: TextProps) => {
  const { id, value, error, onChange } = bound;
  const attributes = {
    ...{ id, value, rows, autofocus: isFirst, autocomplete: 'off', spellcheck: false },
    ...described(bound),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onChange(currentTarget.value),
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${rows === undefined ? html`<input type="text" ...${attributes} />` : html`<textarea ...${attributes} />`}
    <${Description} id=${id} hint=${hint} error=${error} />
  </div>`;
};

type ChoiceProps = Bound<string> & {
  label: string;
  hint: string;
  options: Readonly<Record<string, string>>;
  /** What no choice is called; without it, one has to be made. */
  none?: string;
};

export const Choice = ({ label, hint, options, none, ...bound }: ChoiceProps) => {
  const { id, value, error, onChange } = bound;
  const onSelect = ({ currentTarget }: { currentTarget: HTMLSelectElement }) => onChange(currentTarget.value);
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select id=${id} value=${value} ...${described(bound)} onChange=${onSelect}>
      ${none !== undefined && html`<option key="" value="">${none}</option>`}
      ${Object.entries(options).map(([option, name]) => html`<option key=${option} value=${option}>${name}</option>`)}
    </select>
    <${Description} id=${id} hint=${hint} error=${error} />
  </div>`;
};

type FrameProps = {
  /** What the button does, and what it says while it does. */
  action: string;
  busy: string;
  isSaving: boolean;
  onClose: () => void;
  children?: ComponentChildren;
};

/** The buttons at the end of a form. */
export const FormButtons = ({ action, busy, isSaving, onClose, children }: FrameProps) =>
  html`<div class="bar">
    <button type="submit" class="primary" disabled=${isSaving}>${isSaving ? busy : action}</button>
    ${children}
    <button type="button" onClick=${onClose}>Cancel</button>
  </div>`;
