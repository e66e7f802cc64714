import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { encodeGlobalId } from '../../graph/global-id.ts';
import { UnseenWebhookError } from '../client.ts';
import type { Webhook as WebhookShape } from '../rest.ts';
import { addressEdges, WebhookAddressEdge } from './addresses.ts';
import { WebhookEdge, webhookEdge } from './connection.ts';
import { Webhook } from './webhook.ts';

/** The payloads of the mutations. They hold edges and global ids, so that a client can update the lists that it shows. */

/** The change is made, also where no answer of upstream shows the webhook. Only the fields that show it fail then. */
type Changed = { readonly webhook: WebhookShape | UnseenWebhookError };
type Named = { readonly webhookId: string };
type AddressChanges = Named & { readonly added: readonly string[]; readonly removed: readonly string[] };
type AddressList = Named & { readonly addresses: readonly string[] };

/** The payload of a change, which rejects when upstream has not made it. */
export const payloadOf = async (change: Promise<WebhookShape>): Promise<Changed> => {
  try {
    return { webhook: await change };
  } catch (error) {
    if (error instanceof UnseenWebhookError) return { webhook: error };
    throw error;
  }
};

const webhookOf = ({ webhook }: Changed): WebhookShape => {
  if (webhook instanceof UnseenWebhookError) throw webhook;
  return webhook;
};

export const CreateWebhookPayload = builder.objectRef<Changed>('CreateWebhookPayload').implement({
  description: 'A webhook was created, and is active.',
  fields: (t) => ({
    webhook: t.field({
      type: Webhook,
      description: 'The webhook as the service created it.',
      resolve: webhookOf,
    }),
    webhookEdge: t.field({
      type: WebhookEdge,
      description: 'The webhook as an edge, for a client to add to a list of webhooks.',
      resolve: (changed, _args, { cursorsOf }) => webhookEdge(cursorsOf, webhookOf(changed)),
    }),
  }),
});

export const UpdateWebhookPayload = builder.objectRef<Changed>('UpdateWebhookPayload').implement({
  description: 'A webhook was changed.',
  fields: (t) => ({
    webhook: t.field({
      type: Webhook,
      description: 'The webhook after the change.',
      resolve: webhookOf,
    }),
  }),
});

export const ConnectWebhookPayload = builder.objectRef<Changed>('ConnectWebhookPayload').implement({
  description: "A webhook's url points at this gateway, where its events arrive from now on.",
  fields: (t) => ({
    webhook: t.field({
      type: Webhook,
      description: 'The webhook after the change.',
      resolve: webhookOf,
    }),
  }),
});

export const DeleteWebhookPayload = builder.objectRef<Named>('DeleteWebhookPayload').implement({
  description: 'A webhook was deleted, with its addresses.',
  fields: (t) => ({
    webhookId: t.expose('webhookId', { type: 'UUID', description: 'The id of the deleted webhook.' }),
    deletedId: t.id({
      description: 'The global id of the deleted webhook, for client caches.',
      resolve: ({ webhookId }) => encodeGlobalId('Webhook', webhookId),
    }),
  }),
});

export const UpdateWebhookAddressesPayload = builder
  .objectRef<AddressChanges>('UpdateWebhookAddressesPayload')
  .implement({
    description: "A webhook's list of addresses was changed.",
    fields: (t) => ({
      webhookId: t.expose('webhookId', { type: 'UUID', description: 'The id of the webhook.' }),
      added: t.expose('added', {
        type: ['Address'],
        description: 'The added addresses, each once. They are in the list now.',
      }),
      removed: t.expose('removed', {
        type: ['Address'],
        description:
          'The removed addresses that were not added as well, each once. They are not in the list now.',
      }),
      addedEdges: t.field({
        type: [WebhookAddressEdge],
        description: 'The added addresses as edges, for a client to add to a list of addresses.',
        // The mutation's cost already counts the addresses.
        extensions: withCost({ count: () => 1 }),
        resolve: ({ webhookId, added }, _args, { cursorsOf }) => addressEdges(cursorsOf, webhookId, added),
      }),
      removedIds: t.idList({
        description:
          'The global ids of the removed wallets, for a client to remove from a list of addresses.',
        resolve: ({ removed }) => removed.map((address) => encodeGlobalId('Wallet', address)),
      }),
    }),
  });

export const ReplaceWebhookAddressesPayload = builder
  .objectRef<AddressList>('ReplaceWebhookAddressesPayload')
  .implement({
    description: "A webhook's list of addresses was replaced.",
    fields: (t) => ({
      webhookId: t.expose('webhookId', { type: 'UUID', description: 'The id of the webhook.' }),
      addresses: t.expose('addresses', {
        type: ['Address'],
        description: 'The addresses in the list now, each once.',
      }),
    }),
  });
