import { useId, useRef, useState } from 'preact/hooks';
import { CreateWebhook, DeliveryUrl, UpdateWebhook, type WebhookType } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { ChainFilter } from '../chain-filter.ts';
import { Dialog, html } from '../components.ts';
import { shorten } from '../format.ts';
import { wrongAddress } from '../route.ts';
import { FaultNotice, NO_FAULT, NOTHING, sendChange, useChange } from './change.ts';
import { Description, describing, Field } from './field.ts';
import { parseAddresses } from './pasted-addresses.ts';
import {
  ACTIVITIES,
  ASSETS,
  SIDES,
  TYPES,
  titleOf,
  typeOf,
  type Webhook,
  watchedBy,
} from './webhook-words.ts';

type Setting = {
  readonly label: string;
  readonly hint: string;
  readonly options?: Readonly<Record<string, string>>;
  /** What no choice is called. */
  readonly none?: string;
  readonly rows?: number;
  /** Whether it is set once, when the webhook is created. */
  readonly isFixed?: boolean;
  /** The one type of webhooks that has it. The service refuses it for another. Default: all have it. */
  readonly only?: WebhookType;
  /** Why a text can't be sent; null when it can. */
  readonly wrong?: (text: string) => string | null;
};

const wrongUrl = (text: string): string | null =>
  /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)
    ? null
    : `Expected a whole URL with http:// or https://, got “${shorten(text, 60)}”.`;

/** What a webhook is made of, in the order of its form. */
const SETTINGS = {
  name: { label: 'Name', hint: 'What you know it by.' },
  type: { label: 'What it delivers', hint: 'This can’t be changed later.', options: TYPES, isFixed: true },
  addresses: {
    ...{ label: 'Addresses', hint: '', rows: 4, isFixed: true },
    wrong: (text) => parseAddresses(text).wrong,
  },
  url: {
    label: 'URL',
    hint: 'Where it delivers. Leave it empty for this gateway: then its events appear under Live.',
    wrong: wrongUrl,
  },
  chainIds: { label: 'Chains', hint: 'With none chosen, it delivers events of every chain.' },
  tokenAddress: {
    label: 'Token address',
    hint: 'Only events of this token. Leave it empty for any token.',
    wrong: wrongAddress,
  },
  assetType: { label: 'Kind of asset', hint: 'What its events move.', options: ASSETS, none: 'any' },
  activityType: {
    ...{ label: 'Activity', hint: 'What its addresses do.', options: ACTIVITIES, none: 'any' },
    only: 'ACTIVITIES',
  },
  transactionType: {
    ...{
      label: 'Side of the transaction',
      hint: 'Whether its addresses send it or receive it.',
      options: SIDES,
    },
    ...{ none: 'either side', only: 'TRANSACTIONS' },
  },
  counterparty: {
    label: 'Counterparty',
    hint: 'Only transactions with this address. Leave it empty for any.',
    ...{ only: 'TRANSACTIONS', wrong: wrongAddress },
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Name = keyof typeof SETTINGS;

const NAMES = Object.keys(SETTINGS) as readonly Name[];

const settingOf = (name: Name): Setting => SETTINGS[name];

/** The settings as they are typed. An empty text is a setting that is missing. */
type Draft = Readonly<Record<Exclude<Name, 'chainIds' | 'type'>, string>> & {
  readonly type: WebhookType;
  /** Null means any chain. An empty list, which the service may hold, matches nothing. */
  readonly chainIds: readonly number[] | null;
};

const draftOf = (webhook: Webhook | null): Draft => ({
  ...{ name: webhook?.name ?? '', type: webhook?.type ?? 'TRANSACTIONS', addresses: '' },
  url: webhook?.deliversHere ? '' : (webhook?.url ?? ''),
  chainIds: webhook?.chainIds ?? null,
  tokenAddress: webhook?.tokenAddress ?? '',
  assetType: webhook?.assetType ?? '',
  activityType: webhook?.activityType ?? '',
  transactionType: webhook?.transactionType ?? '',
  counterparty: webhook?.counterparty ?? '',
});

const settingIn = (draft: Draft, name: Name) => {
  const value = draft[name];
  if (name === 'addresses') return parseAddresses(draft.addresses).addresses;
  return typeof value === 'string'
    ? value.trim() || null
    : (value?.toSorted((one, other) => one - other) ?? null);
};

/** Whether a webhook has another value. One without a URL looks like one that delivers here. */
const isChanged = (draft: Draft, name: Name, webhook: Webhook): boolean =>
  String(settingIn(draft, name)) !== String(settingIn(draftOf(webhook), name)) ||
  (name === 'url' && settingIn(draft, name) === null && !webhook.deliversHere);

/** Problems of some settings that this page finds itself. */
const wrongIn = (draft: Draft, names: readonly Name[], isNew: boolean): Readonly<Record<string, string>> => {
  const errors: Record<string, string> = {};
  for (const name of names) {
    const value = draft[name];
    const text = typeof value === 'string' ? value.trim() : '';
    const error = text === '' && name !== 'addresses' ? null : settingOf(name).wrong?.(text);
    if (error) errors[name] = error;
  }
  return { ...errors, ...(isNew && draft.name.trim() === '' && { name: 'Expected a name, got none.' }) };
};

const create = (draft: Draft, names: readonly Name[]) => {
  const given = names.map((name) => [name, settingIn(draft, name)] as const);
  const { type, name, addresses } = draft;
  return sendChange(CreateWebhook, {
    ...Object.fromEntries(given.filter(([, value]) => value !== null)),
    ...{ type, name: name.trim(), addresses: parseAddresses(addresses).addresses },
  });
};

/** An emptied URL becomes this gateway's. */
const update = async (webhookId: string, draft: Draft, names: readonly Name[]) => {
  const changes = Object.fromEntries(names.map((name) => [name, settingIn(draft, name)]));
  if (changes.url !== null) return sendChange(UpdateWebhook, { ...changes, webhookId });
  const { data, problems } = await send(DeliveryUrl, { webhookId });
  if (data === null) return { kind: 'failed', problem: problems[0] ?? NOTHING } as const;
  return sendChange(UpdateWebhook, { ...changes, webhookId, url: data.deliveryUrl });
};

const FIRST_FAULT = '[aria-invalid="true"], .is-invalid summary, [role="alert"]';

const showFirstFault = (form: HTMLFormElement | null): void => {
  requestAnimationFrame(() => {
    const first = form?.querySelector<HTMLElement>(FIRST_FAULT);
    first?.focus();
    first?.scrollIntoView({ block: 'nearest' });
  });
};

type Props = {
  /** The one to edit; null for a new one. */
  webhook: Webhook | null;
  onSaved: (webhook: Webhook) => void;
  onStale: () => void;
  onClose: () => void;
};

/** Creates or edits a webhook. What was typed stays until that is done. */
export const WebhookDialog = ({ webhook, onSaved, onStale, onClose }: Props) => {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(() => draftOf(webhook));
  const { running, fault, setFault, run } = useChange(onStale);
  const isNew = webhook === null;
  const type = isNew ? draft.type : webhook.type;
  const names = NAMES.filter((name) => {
    const { only = type, isFixed } = settingOf(name);
    return only === type && (isNew || !isFixed);
  });

  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (running !== null) return;
    const changed = isNew ? names : names.filter((name) => isChanged(draft, name, webhook));
    if (changed.length === 0) return onClose();
    const errors = wrongIn(draft, changed, isNew);
    if (Object.keys(errors).length > 0) setFault({ ...NO_FAULT, errors });
    else {
      const save = () => (isNew ? create(draft, names) : update(webhook.webhookId, draft, changed));
      const saved = await run<{ readonly webhook: Webhook }>('save', save, names);
      if (saved !== null) return onSaved(saved.webhook);
    }
    showFirstFault(form.current);
  };

  const fieldOf = (name: Name) => {
    const onChange = (value: Draft[Name]) => {
      setDraft((current) => ({ ...current, [name]: value }));
      const { [name]: _, ...errors } = fault.errors;
      setFault({ ...fault, errors });
    };
    const shared = {
      key: name,
      id: `${id}-${name}`,
      error: fault.errors[name],
      onChange,
      ...settingOf(name),
    };
    if (name === 'chainIds') return html`<${ChainsField} ...${shared} value=${draft.chainIds} />`;
    const hint = name === 'addresses' ? parseAddresses(draft.addresses).found : shared.hint;
    return html`<${Field} ...${shared} hint=${hint} value=${draft[name]} isFirst=${name === 'name'} />`;
  };

  return html`<${Dialog} title=${isNew ? 'New webhook' : `Edit ${titleOf(webhook)}`} onClose=${onClose}>
    <form ref=${form} class="stack webhook-form" novalidate onSubmit=${onSubmit}>
      <${FaultNotice} fault=${fault} />
      ${
        !isNew &&
        html`<dl class="facts"><dt>Delivers</dt><dd>${typeOf(webhook)} (can’t be changed)</dd></dl>
          <${WatchHint} webhook=${webhook} change="Another name or URL" />
          ${webhook.url === null && html`<p class="notice">It has no URL now, and delivers nothing.</p>`}`
      }
      ${names.map(fieldOf)}
      <div class="bar">
        <button type="submit" class="primary" disabled=${running !== null}>${running !== null ? 'Saving…' : isNew ? 'Create' : 'Save'}</button>
        <button type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  <//>`;
};

/** Warns before a change that ends a watch. */
export const WatchHint = ({ webhook, change }: { webhook: Webhook; change: string }) =>
  watchedBy(webhook) === null
    ? null
    : html`<p class="notice">The gateway watches a wallet with this webhook. ${change} ends that.</p>`;

type ChainsProps = {
  id: string;
  hint: string;
  value: Draft['chainIds'];
  error: string | undefined;
  onChange: (chainIds: Draft['chainIds']) => void;
};

const ChainsField = ({ id, hint, value, error, onChange }: ChainsProps) => {
  const isEmptyList = value !== null && value.length === 0;
  const choose = (chainIds: readonly number[]) => onChange(chainIds.length === 0 ? null : chainIds);
  return html`<div class=${`field ${error === undefined ? '' : 'is-invalid'}`} role="group" aria-label="Chains" aria-describedby=${describing({ id, error })}>
    <${ChainFilter} selected=${value ?? []} none=${isEmptyList ? 'No chain' : 'Any chain'} onChange=${choose} />
    <${Description} id=${id} error=${error} hint=${isEmptyList ? 'Its list of chains is empty, so that nothing is delivered.' : hint} />
    ${isEmptyList && html`<button type="button" onClick=${() => onChange(null)}>Deliver for every chain</button>`}
  </div>`;
};
