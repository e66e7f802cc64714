import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { encodeGlobalId } from '../../graph/global-id.ts';
import type { Webhook as WebhookShape } from '../rest.ts';
import { addressEdges, WebhookAddressEdge } from './addresses.ts';
import { WebhookEdge, webhookEdge } from './connection.ts';
import { Webhook } from './webhook.ts';

/** The answers of changes. Beside what was changed they hold edges and ids for the lists that a client shows. */

type Changed = { readonly webhook: WebhookShape };
type Named = { readonly webhookId: string };
type AddressChanges = Named & { readonly added: readonly string[]; readonly removed: readonly string[] };
type AddressList = Named & { readonly addresses: readonly string[] };

export const CreateWebhookPayload = builder.objectRef<Changed>('CreateWebhookPayload').implement({
  description: 'A webhook was created, and is active.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: Webhook, description: 'As the service made it.' }),
    webhookEdge: t.field({
      type: WebhookEdge,
      description: 'The webhook as an edge, to be added to a list of webhooks.',
      resolve: ({ webhook }, _args, { cursorsOf }) => webhookEdge(cursorsOf, webhook),
    }),
  }),
});

export const UpdateWebhookPayload = builder.objectRef<Changed>('UpdateWebhookPayload').implement({
  description: 'A webhook was changed.',
  fields: (t) => ({ webhook: t.expose('webhook', { type: Webhook, description: 'As it is now.' }) }),
});

export const ConnectWebhookPayload = builder.objectRef<Changed>('ConnectWebhookPayload').implement({
  description: "A webhook's events arrive here from now on.",
  fields: (t) => ({ webhook: t.expose('webhook', { type: Webhook, description: 'As it is now.' }) }),
});

export const DeleteWebhookPayload = builder.objectRef<Named>('DeleteWebhookPayload').implement({
  description: 'A webhook is gone, and its addresses with it.',
  fields: (t) => ({
    webhookId: t.expose('webhookId', { type: 'UUID', description: 'Which webhook it was.' }),
    deletedId: t.id({
      description: 'The global id of what is gone, for client caches.',
      resolve: ({ webhookId }) => encodeGlobalId('Webhook', webhookId),
    }),
  }),
});

export const UpdateWebhookAddressesPayload = builder
  .objectRef<AddressChanges>('UpdateWebhookAddressesPayload')
  .implement({
    description: "A webhook's list of addresses was changed.",
    fields: (t) => ({
      webhookId: t.expose('webhookId', { type: 'UUID', description: 'Which webhook.' }),
      added: t.expose('added', {
        type: ['Address'],
        description: 'Those to add, each once: they are in the list now.',
      }),
      removed: t.expose('removed', {
        type: ['Address'],
        description: 'Those to remove but not to add, each once: they are not in the list now.',
      }),
      addedEdges: t.field({
        type: [WebhookAddressEdge],
        description: 'The added ones as edges, to be put into a list of addresses.',
        // The mutation says how many.
        extensions: withCost({ count: () => 1 }),
        resolve: ({ webhookId, added }, _args, { cursorsOf }) => addressEdges(cursorsOf, webhookId, added),
      }),
      removedIds: t.idList({
        description: 'The global ids of the removed ones, to be taken out of a list of addresses.',
        resolve: ({ removed }) => removed.map((address) => encodeGlobalId('Wallet', address)),
      }),
    }),
  });

export const ReplaceWebhookAddressesPayload = builder
  .objectRef<AddressList>('ReplaceWebhookAddressesPayload')
  .implement({
    description: "A webhook's list of addresses was replaced.",
    fields: (t) => ({
      webhookId: t.expose('webhookId', { type: 'UUID', description: 'Which webhook.' }),
      addresses: t.expose('addresses', {
        type: ['Address'],
        description: 'What the list holds now, each once.',
      }),
    }),
  });
