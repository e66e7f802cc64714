import type {
  ActivityType,
  AssetType,
  CreateWebhookInput,
  TransactionDirection,
  UpdateWebhookInput,
  WebhookType,
} from '../__generated__/operations.ts';
import { counted, formatCount, shorten } from '../format.ts';
import { isAddress } from '../route.ts';
import type { Webhook } from './webhook-words.ts';

/** What a text with addresses holds. */
export type PastedAddresses = {
  /** Each once, as it was typed: the gateway checks the checksum of one in mixed case. */
  readonly addresses: readonly string[];
  readonly wrong: readonly string[];
  /** How many repeat another, in any case. */
  readonly duplicates: number;
};

/** Includes the punctuation of a JSON list. */
const SEPARATORS = /[\s,;|"'`[\]]+/;

const MOST_NAMED = 5;

export const parseAddresses = (text: string): PastedAddresses => {
  const found = new Map<string, string>();
  const wrong = new Set<string>();
  let duplicates = 0;
  for (const word of text.split(SEPARATORS)) {
    if (word === '') continue;
    const lower = word.toLowerCase();
    if (!isAddress(word)) wrong.add(word);
    else if (found.has(lower)) duplicates += 1;
    else found.set(lower, word.replace(/^0X/, '0x'));
  }
  return { addresses: [...found.values()], wrong: [...wrong], duplicates };
};

/** `1 address`, `2,000 addresses`. */
export const inAddresses = (count: number): string => counted(count, 'address', 'addresses');

/** Why the text can't be sent; null when it can. */
export const wrongAddresses = ({ addresses, wrong }: PastedAddresses): string | null => {
  if (wrong.length > 0) {
    const named = wrong.slice(0, MOST_NAMED).map((word) => `“${shorten(word, 50)}”`);
    const more = wrong.length - named.length;
    const rest = more > 0 ? ` and ${formatCount(more)} more` : '';
    return `Expected addresses (0x and 40 hex digits each), got ${named.join(', ')}${rest}.`;
  }
  return addresses.length === 0 ? 'Expected at least one address, got none.' : null;
};

/** How many were found, for the reader who pastes them. */
export const countOf = ({ addresses, wrong, duplicates }: PastedAddresses): string => {
  if (addresses.length + wrong.length === 0)
    return 'One or many: spaces, commas, semicolons or lines between them.';
  const repeated = duplicates === 0 ? '' : `, without ${formatCount(duplicates)} that repeat another`;
  const not = wrong.length === 0 ? '' : `; ${formatCount(wrong.length)} can’t be read`;
  return `${inAddresses(addresses.length)}${repeated}${not}.`;
};

/** A webhook's settings as they are typed. An empty text is null. */
export type Settings = {
  readonly name: string;
  /** Empty: this gateway. */
  readonly url: string;
  /** Null means any chain. An empty list, which the service may hold, matches nothing. */
  readonly chainIds: readonly number[] | null;
  readonly tokenAddress: string;
  readonly assetType: AssetType | '';
  readonly activityType: ActivityType | '';
  readonly transactionType: TransactionDirection | '';
  readonly counterparty: string;
};

/** A new webhook as it is typed. */
export type Creation = Settings & { readonly type: WebhookType; readonly addresses: string };

type Setting = keyof Settings;

const OF_EVERY_TYPE = ['name', 'url', 'chainIds', 'tokenAddress', 'assetType'] as const;

/** The settings that a webhook of a type has. The service refuses the filters of another type. */
export const settingsOf = (type: WebhookType | null): readonly Setting[] => [
  ...OF_EVERY_TYPE,
  ...(type === 'ACTIVITIES' ? (['activityType'] as const) : []),
  ...(type === 'TRANSACTIONS' ? (['transactionType', 'counterparty'] as const) : []),
];

export const NEW_WEBHOOK: Creation = {
  type: 'TRANSACTIONS',
  addresses: '',
  ...{ name: '', url: '', chainIds: null, tokenAddress: '', assetType: '' },
  ...{ activityType: '', transactionType: '', counterparty: '' },
};

export const draftOf = (webhook: Webhook): Settings => ({
  name: webhook.name ?? '',
  url: webhook.deliversHere ? '' : (webhook.url ?? ''),
  chainIds: webhook.chainIds,
  tokenAddress: webhook.tokenAddress ?? '',
  assetType: webhook.assetType ?? '',
  activityType: webhook.activityType ?? '',
  transactionType: webhook.transactionType ?? '',
  counterparty: webhook.counterparty ?? '',
});

const settingValue = (value: Settings[Setting]): Settings[Setting] | null =>
  typeof value === 'string' ? value.trim() || null : value;

const asKey = (value: Settings[Setting]): string =>
  Array.isArray(value) ? value.toSorted((one, other) => one - other).join() : String(value);

/** The changed settings, with emptied ones as null. Null if nothing has changed. */
export const changesOf = (
  draft: Settings,
  webhook: Webhook,
): Omit<UpdateWebhookInput, 'webhookId'> | null => {
  const before = draftOf(webhook);
  const isChanged = (setting: Setting) => asKey(draft[setting]) !== asKey(before[setting]);
  // One without a URL looks like one that delivers here.
  const isPointedHere = draft.url.trim() === '' && !webhook.deliversHere;
  const changed = settingsOf(webhook.type).filter(
    (setting) => isChanged(setting) || (setting === 'url' && isPointedHere),
  );
  if (changed.length === 0) return null;
  return Object.fromEntries(changed.map((setting) => [setting, settingValue(draft[setting])]));
};

export const creationOf = (draft: Creation): CreateWebhookInput => {
  const given = settingsOf(draft.type)
    .map((setting) => [setting, settingValue(draft[setting])] as const)
    .filter(([, value]) => value !== null);
  const { type, name, addresses } = draft;
  return {
    ...Object.fromEntries(given),
    name: name.trim(),
    type,
    addresses: parseAddresses(addresses).addresses,
  };
};

type Errors = Readonly<Record<string, string>>;

const got = (text: string): string => `got “${shorten(text, 60)}”.`;

const wrongAddress = (text: string): string | null =>
  isAddress(text) ? null : `Expected an address (0x and 40 hex digits), ${got(text)}`;

const wrongUrl = (text: string): string | null =>
  /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)
    ? null
    : `Expected a whole URL with http:// or https://, ${got(text)}`;

const CHECKS: Readonly<Partial<Record<keyof Settings, (text: string) => string | null>>> = {
  url: wrongUrl,
  tokenAddress: wrongAddress,
  counterparty: wrongAddress,
};

/** Problems by field. An empty text counts as a missing setting. */
export const wrongSettings = (draft: Settings, settings: readonly (keyof Settings)[]): Errors => {
  const errors: Record<string, string> = {};
  for (const setting of settings) {
    const value = draft[setting];
    const text = typeof value === 'string' ? value.trim() : '';
    const error = text === '' ? null : CHECKS[setting]?.(text);
    if (error) errors[setting] = error;
  }
  return errors;
};

export const wrongCreation = (draft: Creation): Errors => {
  const addresses = wrongAddresses(parseAddresses(draft.addresses));
  return {
    ...wrongSettings(draft, settingsOf(draft.type)),
    ...(draft.name.trim() === '' ? { name: 'Expected a name, got none.' } : {}),
    ...(addresses === null ? {} : { addresses }),
  };
};
