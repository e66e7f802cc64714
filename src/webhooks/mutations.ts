import { builder } from '../graph/builder.ts';
import { TransactionDirection } from '../transactions/schema.ts';
import { ActivityType, AssetType } from './enums.ts';
import { orRefusal, WebhookError, WebhookRefusal, webhookResult } from './result.ts';

const webhookId = { type: 'UUID', required: true, description: 'Which webhook.' } as const;

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'A field left out is unchanged; a field given as null is sent as null.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    name: t.string({ description: 'A new name.' }),
    url: t.field({ type: 'URL', description: 'A new destination.' }),
    active: t.boolean({ description: 'False stops the deliveries, true resumes them.' }),
    chainIds: t.field({ type: ['ChainId'], description: 'Null: all supported chains.' }),
    transactionType: t.field({
      type: TransactionDirection,
      description: 'For webhooks of type TRANSACTIONS only.',
    }),
    counterparty: t.field({ type: 'Address', description: 'For webhooks of type TRANSACTIONS only.' }),
    activityType: t.field({ type: ActivityType, description: 'For webhooks of type ACTIVITIES only.' }),
    assetType: t.field({ type: AssetType, description: 'Only events of such assets.' }),
    tokenAddress: t.field({ type: 'Address', description: 'Only events of this token.' }),
  }),
});

const UpdateWebhookAddressesInput = builder.inputType('UpdateWebhookAddressesInput', {
  description: 'Removals are applied first, then additions: an address in both ends up in the list.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    addAddresses: t.field({ type: ['Address'], description: 'Addresses to add to the list.' }),
    removeAddresses: t.field({ type: ['Address'], description: 'Addresses to remove from the list.' }),
  }),
});

const ConnectWebhookInput = builder.inputType('ConnectWebhookInput', {
  description: 'Which webhook to point here.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});

const UpdateWebhookResult = webhookResult('UpdateWebhook', 'A webhook was changed.');
const ConnectWebhookResult = webhookResult('ConnectWebhook', "A webhook's events arrive here from now on.");

type AddressesPayload = {
  readonly webhookId: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
};

const UpdateWebhookAddressesPayload = builder
  .objectRef<AddressesPayload>('UpdateWebhookAddressesPayload')
  .implement({
    description: "A webhook's list of addresses was changed.",
    fields: (t) => ({
      webhookId: t.expose('webhookId', { type: 'UUID', description: 'Which webhook.' }),
      added: t.field({
        type: ['Address'],
        description: 'Those that are in the list now because of this update.',
        resolve: ({ added }) => added,
      }),
      removed: t.field({
        type: ['Address'],
        description: 'Those that are not in the list now because of this update.',
        resolve: ({ removed }) => removed,
      }),
    }),
  });

const UpdateWebhookAddressesResult = builder.unionType('UpdateWebhookAddressesResult', {
  description: 'What was changed, or what the caller can mend.',
  types: [UpdateWebhookAddressesPayload, WebhookError],
  resolveType: (value) => (value instanceof WebhookRefusal ? WebhookError : UpdateWebhookAddressesPayload),
});

builder.mutationFields((t) => ({
  updateWebhook: t.field({
    type: UpdateWebhookResult,
    description: 'Changes what is given, and nothing else.',
    args: { input: t.arg({ type: UpdateWebhookInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input: { webhookId: id, ...changes } }, { webhooks }) =>
      orRefusal(webhooks.update(id, changes).then((webhook) => ({ webhook }))),
  }),
  updateWebhookAddresses: t.field({
    type: UpdateWebhookAddressesResult,
    description: 'Removals are applied first, then additions.',
    args: {
      input: t.arg({
        type: UpdateWebhookAddressesInput,
        required: true,
        description: 'What to add and to remove.',
      }),
    },
    resolve: (_root, { input: { webhookId: id, addAddresses, removeAddresses } }, { webhooks }) => {
      const added = folded(addAddresses);
      const removed = folded(removeAddresses);
      const kept = new Set(added);
      return orRefusal(
        webhooks.updateAddresses(id, { addAddresses: added, removeAddresses: removed }).then(() => ({
          webhookId: id,
          added: added ?? [],
          removed: (removed ?? []).filter((address) => !kept.has(address)),
        })),
      );
    },
  }),
  connectWebhook: t.field({
    type: ConnectWebhookResult,
    description: "Points the webhook's url at this gateway, so that its events arrive in deliveries.",
    args: { input: t.arg({ type: ConnectWebhookInput, required: true, description: 'Which webhook.' }) },
    resolve: (_root, { input: { webhookId: id } }, { webhooks, deliveries }) =>
      orRefusal(webhooks.update(id, { url: deliveries.url(id) }).then((webhook) => ({ webhook }))),
  }),
}));

/** Duplicates folded, order kept; null and left out stay what they are. */
const folded = <Addresses extends readonly string[] | null | undefined>(addresses: Addresses) =>
  addresses ? [...new Set(addresses)] : (addresses as Exclude<Addresses, readonly string[]>);
