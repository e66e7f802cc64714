import { type BuilderTypes, builder } from '../../graph/builder.ts';
import { TransactionDirection } from '../../transactions/schema.ts';
import { ActivityType, AssetType, WebhookType } from './enums.ts';

const webhookId = { type: 'UUID', required: true, description: 'Which webhook.' } as const;

const filters = (t: PothosSchemaTypes.InputFieldBuilder<BuilderTypes, 'InputObject'>) => ({
  chainIds: t.field({
    type: ['ChainId'],
    description: 'Only events of these chains, among those that `chains` lists. Null: all supported chains.',
  }),
  transactionType: t.field({
    type: TransactionDirection,
    description: 'For webhooks of type TRANSACTIONS only.',
  }),
  counterparty: t.field({ type: 'Address', description: 'For webhooks of type TRANSACTIONS only.' }),
  activityType: t.field({ type: ActivityType, description: 'For webhooks of type ACTIVITIES only.' }),
  assetType: t.field({ type: AssetType, description: 'Only events of such assets.' }),
  tokenAddress: t.field({ type: 'Address', description: 'Only events of this token.' }),
});

export const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
  description: 'A new webhook. A filter that is left out or null lets every event of the type through.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it.' }),
    type: t.field({ type: WebhookType, required: true, description: 'What it delivers, for good.' }),
    url: t.field({ type: 'URL', description: "Left out or null: this gateway's own delivery URL." }),
    addresses: t.field({ type: ['Address'], required: true, description: 'Whose events it delivers.' }),
    ...filters(t),
  }),
});

export const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'A field left out is unchanged; a field given as null is sent as null.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    name: t.string({ description: 'A new name.' }),
    url: t.field({ type: 'URL', description: 'A new destination.' }),
    active: t.boolean({ description: 'False stops the deliveries, true resumes them.' }),
    ...filters(t),
  }),
});

export const DeleteWebhookInput = builder.inputType('DeleteWebhookInput', {
  description: 'Which webhook to delete, with its addresses.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});

export const UpdateWebhookAddressesInput = builder.inputType('UpdateWebhookAddressesInput', {
  description: 'Removals are applied first, then additions: an address in both ends up in the list.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    addAddresses: t.field({ type: ['Address'], description: 'Addresses to add to the list.' }),
    removeAddresses: t.field({ type: ['Address'], description: 'Addresses to remove from the list.' }),
  }),
});

export const ReplaceWebhookAddressesInput = builder.inputType('ReplaceWebhookAddressesInput', {
  description: 'The whole list at once.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    addresses: t.field({
      type: ['Address'],
      required: true,
      description: 'What the list holds from now on; what is not among them is removed.',
    }),
  }),
});

export const ConnectWebhookInput = builder.inputType('ConnectWebhookInput', {
  description: 'Which webhook to point here.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});
