import { html } from '../components.ts';
import { shorten } from '../format.ts';

type Described = { id: string; hint: string; error: string | undefined };

/** The ids of the sentences below an input. */
export const describing = ({ id, error }: Pick<Described, 'id' | 'error'>): string =>
  error === undefined ? `${id}-hint` : `${id}-error ${id}-hint`;

/** The sentences below an input. */
export const Description = ({ id, hint, error }: Described) =>
  html`${error !== undefined && html`<p class="error" id=${`${id}-error`}>${shorten(error, 600)}</p>`}
    <p class="hint" id=${`${id}-hint`}>${hint}</p>`;

type FieldProps = Described & {
  label: string;
  value: string;
  onChange: (value: string) => void;
  isFirst?: boolean;
  /** With it, the field has many lines. */
  rows?: number | undefined;
  /** With them, it is one of these values, by their names. */
  options?: Readonly<Record<string, string>> | undefined;
  /** The name of no value; without it, one must be chosen. */
  none?: string | undefined;
};

/** A text or a choice, with its label, a hint, and why it can't be sent. */
export const Field = (props: FieldProps) => {
  const { id, label, hint, error, value, onChange, isFirst, rows, options, none } = props;
  const attributes = {
    ...{ id, value, autofocus: isFirst, 'aria-describedby': describing(props) },
    'aria-invalid': error === undefined ? undefined : 'true',
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onChange(currentTarget.value),
  };
  const text = { ...attributes, autocomplete: 'off', spellcheck: false };
  const choices = Object.entries({ ...(none !== undefined && { '': none }), ...options });
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${
      options
        ? html`<select ...${attributes}>${choices.map(([option, name]) => html`<option key=${option} value=${option}>${name}</option>`)}</select>`
        : rows === undefined
          ? html`<input type="text" ...${text} />`
          : html`<textarea ...${text} rows=${rows} />`
    }
    <${Description} id=${id} hint=${hint} error=${error} />
  </div>`;
};
