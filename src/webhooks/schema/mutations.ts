import { type BuilderTypes, builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { TransactionDirection } from '../../lookups/transactions.ts';
import { connectToGateway, createForGateway } from '../watched-wallets.ts';
import * as payloads from './payloads.ts';
import { asUserError, mutationResult, orUnsupported } from './payloads.ts';
import { ActivityType, AssetType, WebhookType } from './webhook.ts';

builder.mutationFields((t) => ({
  createWebhook: t.field({
    type: mutationResult('CreateWebhook', payloads.CreateWebhookPayload),
    description:
      'Creates a webhook that delivers to the given URL, or to this gateway when the URL is omitted.',
    authScopes: { webhooks: true },
    args: {
      input: t.arg({ type: CreateWebhookInput, required: true, description: 'The new webhook.' }),
    },
    resolve: (_root, { input: { url, ...rest } }, { webhooks, deliveries, chains }) => {
      chains.assertKnown(rest.chainIds);
      const creation = { ...rest, addresses: unique(rest.addresses) };
      const created =
        url == null
          ? createForGateway(webhooks, creation, deliveries)
          : webhooks.create({ ...creation, url });
      return asUserError(payloads.payloadOf(created));
    },
  }),
  updateWebhook: t.field({
    type: mutationResult('UpdateWebhook', payloads.UpdateWebhookPayload),
    description: 'Changes the given settings of a webhook, and no others.',
    authScopes: { webhooks: true },
    args: {
      input: t.arg({ type: UpdateWebhookInput, required: true, description: 'The changes.' }),
    },
    resolve: (_root, { input: { webhookId, ...changes } }, { webhooks, chains }) => {
      chains.assertKnown(changes.chainIds);
      return asUserError(payloads.payloadOf(webhooks.update(webhookId, changes)));
    },
  }),
  deleteWebhook: t.field({
    type: mutationResult('DeleteWebhook', payloads.DeleteWebhookPayload),
    description: 'Deletes a webhook. Its past deliveries stay in deliveries.',
    authScopes: { webhooks: true },
    args: {
      input: t.arg({
        type: DeleteWebhookInput,
        required: true,
        description: 'The webhook to delete.',
      }),
    },
    resolve: (_root, { input: { webhookId } }, { webhooks }) =>
      asUserError(webhooks.delete(webhookId).then(() => ({ webhookId }))),
  }),
  updateWebhookAddresses: t.field({
    type: mutationResult('UpdateWebhookAddresses', payloads.UpdateWebhookAddressesPayload),
    description: 'Removes addresses from a webhook, then adds addresses.',
    authScopes: { webhooks: true },
    args: {
      input: t.arg({
        type: UpdateWebhookAddressesInput,
        required: true,
        description: 'The addresses to add and to remove.',
      }),
    },
    extensions: withCost<{ input: { addAddresses?: readonly string[] | null } }>({
      count: ({ input }) => input.addAddresses?.length ?? 0,
    }),
    resolve: (_root, { input: { webhookId, ...lists } }, { webhooks }) => {
      const added = unique(lists.addAddresses);
      const removed = unique(lists.removeAddresses);
      const inList = new Set(added);
      return asUserError(
        webhooks.updateAddresses(webhookId, { addAddresses: added, removeAddresses: removed }).then(() => ({
          webhookId,
          added: added ?? [],
          removed: (removed ?? []).filter((address) => !inList.has(address)),
        })),
      );
    },
  }),
  replaceWebhookAddresses: t.field({
    type: mutationResult('ReplaceWebhookAddresses', payloads.ReplaceWebhookAddressesPayload),
    description: 'Replaces the whole list of addresses of a webhook.',
    authScopes: { webhooks: true },
    args: {
      input: t.arg({
        type: ReplaceWebhookAddressesInput,
        required: true,
        description: 'The new list.',
      }),
    },
    resolve: (_root, { input: { webhookId, ...list } }, { webhooks }) => {
      const addresses = unique(list.addresses);
      return asUserError(
        webhooks.replaceAddresses(webhookId, addresses).then(() => ({ webhookId, addresses })),
      );
    },
  }),
  connectWebhook: t.field({
    type: mutationResult('ConnectWebhook', payloads.ConnectWebhookPayload),
    description: "Points the webhook's url at this gateway, so that its events arrive in deliveries.",
    authScopes: { webhooks: true },
    args: {
      input: t.arg({
        type: ConnectWebhookInput,
        required: true,
        description: 'The webhook to connect.',
      }),
    },
    resolve: (_root, { input: { webhookId } }, { webhooks, deliveries }) =>
      asUserError(payloads.payloadOf(connectToGateway(webhooks, webhookId, deliveries))),
  }),
  sendTestEvent: t.field({
    type: mutationResult('SendTestEvent', payloads.SendTestEventPayload),
    description:
      "Makes the service send an event that did not happen to the webhook's url, whatever its filters. It arrives among deliveries, or in refusedDeliveries. Where the service has no such operation, the result is a WebhookError with the code UNSUPPORTED.",
    authScopes: { webhooks: true },
    args: {
      input: t.arg({ type: SendTestEventInput, required: true, description: 'The webhook to test.' }),
    },
    resolve: (_root, { input: { webhookId } }, { webhooks }) =>
      asUserError(orUnsupported(webhooks.sendTestEvent(webhookId).then(() => ({ webhookId })))),
  }),
}));

/** Removes duplicates and preserves the order. Null and undefined stay as they are. */
const unique = <Addresses extends readonly string[] | null | undefined>(addresses: Addresses) =>
  (addresses && [...new Set(addresses)]) as readonly string[] | Exclude<Addresses, readonly string[]>;

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

const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
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

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'A field that is omitted stays unchanged; null is sent as null.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    name: t.string({ description: 'A new name.' }),
    url: t.field({ type: 'URL', description: 'A new destination.' }),
    active: t.boolean({ description: 'False stops the deliveries, true resumes them.' }),
    ...filters(t),
  }),
});

const DeleteWebhookInput = builder.inputType('DeleteWebhookInput', {
  description: 'The webhook to delete, with its addresses.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});

const UpdateWebhookAddressesInput = builder.inputType('UpdateWebhookAddressesInput', {
  description:
    'The service applies the removals first, then the additions: an address in both is in the list afterwards.',
  fields: (t) => ({
    webhookId: t.field(webhookId),
    addAddresses: t.field({ type: ['Address'], description: 'Addresses to add to the list.' }),
    removeAddresses: t.field({ type: ['Address'], description: 'Addresses to remove from the list.' }),
  }),
});

const ReplaceWebhookAddressesInput = builder.inputType('ReplaceWebhookAddressesInput', {
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

const ConnectWebhookInput = builder.inputType('ConnectWebhookInput', {
  description: 'The webhook whose url to point at this gateway.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});

const SendTestEventInput = builder.inputType('SendTestEventInput', {
  description: 'The webhook to test.',
  fields: (t) => ({ webhookId: t.field(webhookId) }),
});
