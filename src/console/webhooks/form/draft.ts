import type {
  ActivityType,
  AssetType,
  CreateWebhookInput,
  TransactionDirection,
  UpdateWebhookInput,
  WebhookType,
} from '../../__generated__/operations.ts';
import { parseAddresses } from '../addresses/pasted-addresses.ts';
import type { Webhook } from '../webhook-words.ts';

/** A webhook's settings as they are typed. An empty text is null. */
export type Settings = {
  readonly name: string;
  readonly url: string;
  /** Null is any chain. An empty list, which the service may hold, lets nothing through. */
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
  url: webhook.url ?? '',
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

/** The settings that differ, those that were emptied as null. Null when none does. */
export const changesOf = (
  draft: Settings,
  before: Settings,
  settings: readonly Setting[],
): Omit<UpdateWebhookInput, 'webhookId'> | null => {
  const changed = settings.filter((setting) => asKey(draft[setting]) !== asKey(before[setting]));
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
