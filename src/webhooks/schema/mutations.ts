import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { connectToGateway, createForGateway } from '../watched-wallets.ts';
import * as inputs from './inputs.ts';
import * as payloads from './payloads.ts';
import { asUserError, mutationResult } from './payloads.ts';

builder.mutationFields((t) => ({
  createWebhook: t.field({
    type: mutationResult('CreateWebhook', payloads.CreateWebhookPayload),
    description:
      'Creates a webhook that delivers to the given URL, or to this gateway when the URL is omitted.',
    authScopes: { webhooks: true },
    args: {
      input: t.arg({ type: inputs.CreateWebhookInput, required: true, description: 'The new webhook.' }),
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
      input: t.arg({ type: inputs.UpdateWebhookInput, required: true, description: 'The changes.' }),
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
        type: inputs.DeleteWebhookInput,
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
        type: inputs.UpdateWebhookAddressesInput,
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
        type: inputs.ReplaceWebhookAddressesInput,
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
        type: inputs.ConnectWebhookInput,
        required: true,
        description: 'The webhook to connect.',
      }),
    },
    resolve: (_root, { input: { webhookId } }, { webhooks, deliveries }) =>
      asUserError(payloads.payloadOf(connectToGateway(webhooks, webhookId, deliveries))),
  }),
}));

/** Removes duplicates and preserves the order. Null and undefined stay as they are. */
const unique = <Addresses extends readonly string[] | null | undefined>(addresses: Addresses) =>
  (addresses && [...new Set(addresses)]) as readonly string[] | Exclude<Addresses, readonly string[]>;
