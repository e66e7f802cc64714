import { type BuilderTypes, builder } from '../../graph/builder.ts';
import { TransactionDirection } from '../../lookups/transactions.ts';
import { ActivityType, AssetType, WebhookType } from './enums.ts';

const webhookId = { type: 'UUID', required: true, description: "The service's id of the webhook." } as const;

const filters = (t: PothosSchemaTypes.InputFieldBuilder<BuilderTypes, 'InputObject'>) => ({
  chainIds: t.field({
    type: ['ChainId'],
    description: 'Only events of these chains, which `chains` must list. Null: all supported chains.',
  }),
  transactionType: t.field({
    type: TransactionDirection,
    description: 'For webhooks of type TRANSACTIONS only.',
  }),
  counterparty: t.field({ type: 'Address', description: 'For webhooks of type TRANSACTIONS only.' }),
  activityType: t.field({ type: ActivityType, description: 'For webhooks of type ACTIVITIES only.' }),
  assetType: t.field({ type: AssetType, description: 'Only events of this kind of asset.' }),
  tokenAddress: t.field({ type: 'Address', description: 'Only events of this token.' }),
});

export const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
  description: 'A new webhook. A filter that is omitted or null lets every event of its type through.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name.' }),
    type: t.field({
      type: WebhookType,
      required: true,
      description: 'What it delivers. It can not be changed later.',
    }),
    url: t.field({
      type: 'URL',
      description: "The destination of its deliveries. Omitted or null: this gateway's own delivery URL.",
    }),
    addresses: t.field({
      type: ['Address'],
      required: true,
      description: 'The addresses whose events it delivers.',
    }),
    ...filters(t),
  }),
});

export const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'A field that is omitted stays unchanged; null is sent as null.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    name: t.string({ description: 'A new name.' }),
    url: t.field({ type: 'URL', description: 'A new destination.' }),
    active: t.boolean({ description: 'False stops the deliveries, true resumes them.' }),
    ...filters(t),
  }),
});

export const DeleteWebhookInput = builder.inputType('DeleteWebhookInput', {
  description: 'The webhook to delete, with its addresses.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});

export const UpdateWebhookAddressesInput = builder.inputType('UpdateWebhookAddressesInput', {
  description:
    'The service applies the removals first, then the additions: an address in both is in the list afterwards.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    addAddresses: t.field({ type: ['Address'], description: 'Addresses to add to the list.' }),
    removeAddresses: t.field({ type: ['Address'], description: 'Addresses to remove from the list.' }),
  }),
});

export const ReplaceWebhookAddressesInput = builder.inputType('ReplaceWebhookAddressesInput', {
  description: 'A replacement of the whole list of addresses.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    addresses: t.field({
      type: ['Address'],
      required: true,
      description: 'The new list. Other addresses are removed.',
    }),
  }),
});

export const ConnectWebhookInput = builder.inputType('ConnectWebhookInput', {
  description: 'The webhook whose url to point at this gateway.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});
