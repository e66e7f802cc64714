import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { WebhookType } from '../__generated__/operations.ts';
import { ChainFilter } from '../chain-filter.ts';
import { html } from '../components.ts';
import { shorten } from '../format.ts';
import { NO_FAULT, type Outcome, useChange } from './change.ts';
import { type Settings, settingsOf } from './draft.ts';
import { ACTIVITIES, ASSETS, SIDES, type Webhook, watchedBy } from './webhook-words.ts';

type Described = { id: string; hint: string; error: string | undefined };

/** The attributes of an input by which its hint and its error belong to it. */
const described = ({ id, error }: Pick<Described, 'id' | 'error'>) => ({
  'aria-invalid': error === undefined ? undefined : 'true',
  'aria-describedby': error === undefined ? `${id}-hint` : `${id}-error ${id}-hint`,
});

/** The sentences below an input. */
const Description = ({ id, hint, error }: Described) =>
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
  /** The label for no choice; without it, a choice is required. */
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

/** Warns before a change that ends a watch. */
export const WatchHint = ({ webhook, change }: { webhook: Webhook; change: string }) =>
  watchedBy(webhook) === null
    ? null
    : html`<p class="notice">The gateway watches a wallet with this webhook. ${change} ends that.</p>`;

const ANY = 'Empty: any.';

const ChainsField = ({ id, value, error, onChange }: Bound<Settings['chainIds']>) => {
  const isEmptyList = value !== null && value.length === 0;
  const choose = (chainIds: readonly number[]) => onChange(chainIds.length === 0 ? null : chainIds);
  return html`<div class=${`field ${error === undefined ? '' : 'is-invalid'}`} role="group" aria-label="Chains" aria-describedby=${`${id}-hint${error === undefined ? '' : ` ${id}-error`}`}>
    <${ChainFilter} selected=${value ?? []} none=${isEmptyList ? 'No chain' : 'Any chain'} onChange=${choose} />
    <${Description} id=${id} error=${error} hint=${isEmptyList ? 'Its list of chains is empty, so that nothing is delivered.' : 'None chosen: any chain that the service delivers for.'} />
    ${isEmptyList && html`<button type="button" onClick=${() => onChange(null)}>Let every chain through</button>`}
  </div>`;
};

type Props = { form: Form<Settings>; type: WebhookType | null };

/** The filters that webhooks of a type may have. */
export const FilterFields = ({ form: { bind }, type }: Props) => {
  const has = settingsOf(type);
  return html`
    <${ChainsField} ...${bind('chainIds')} />
    <${TextField} ...${bind('tokenAddress')} label="Token address" hint=${`Only events of this token. ${ANY}`} />
    <${Choice} ...${bind('assetType')} label="Kind of asset" none="any" options=${ASSETS} hint="What its events move." />
    ${has.includes('activityType') && html`<${Choice} ...${bind('activityType')} label="Activity" none="any" options=${ACTIVITIES} hint="What its addresses do." />`}
    ${has.includes('transactionType') && html`<${Choice} ...${bind('transactionType')} label="Side of the transaction" none="any" options=${SIDES} hint="Any: both sides." />`}
    ${has.includes('counterparty') && html`<${TextField} ...${bind('counterparty')} label="Counterparty" hint=${`Only transactions with this address. ${ANY}`} />`}`;
};

/** What a field shows, and how it is changed. */
type Bound<Value> = {
  readonly id: string;
  readonly value: Value;
  readonly error: string | undefined;
  readonly onChange: (value: Value) => void;
};

type Form<Draft> = ReturnType<typeof useForm<Draft>>;

const FIRST_FAULT = '[aria-invalid="true"], .is-invalid summary, [role="alert"]';

const showFirstFault = (form: HTMLFormElement | null): void => {
  requestAnimationFrame(() => {
    const first = form?.querySelector<HTMLElement>(FIRST_FAULT);
    first?.focus();
    first?.scrollIntoView({ block: 'nearest' });
  });
};

/** A form that keeps what was typed until its change is made. */
export const useForm = <Draft>(initial: Draft, onStale: () => void) => {
  const id = useId();
  const element = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(initial);
  const { running, fault, setFault, run } = useChange(onStale);

  const bind = <Field extends keyof Draft & string>(field: Field): Bound<Draft[Field]> => ({
    id: `${id}-${field}`,
    value: draft[field],
    error: fault.errors[field],
    onChange(value) {
      setDraft((current) => ({ ...current, [field]: value }));
      const { [field]: _, ...errors } = fault.errors;
      setFault({ ...fault, errors });
    },
  });

  /** Resolves with the payload. `wrong` has the problems that this page finds itself; if there are any, nothing is sent. */
  const submit = async <Value>(
    wrong: Readonly<Record<string, string>>,
    fields: readonly (keyof Draft & string)[],
    save: () => Promise<Outcome<Value>>,
  ): Promise<Value | null> => {
    let value: Value | null = null;
    if (Object.keys(wrong).length > 0) setFault({ ...NO_FAULT, errors: wrong });
    else value = await run('save', save, fields);
    if (value === null) showFirstFault(element.current);
    return value;
  };

  return { element, draft, fault, isSaving: running !== null, bind, submit };
};
