import type { ObjectRef } from '@pothos/core';
import { type BuilderTypes, builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { encodeGlobalId } from '../../graph/global-id.ts';
import { connect, type ItemEdge } from '../../graph/pagination/connection.ts';
import { listConnectionTypes, type PageArgs, pageArguments } from '../../graph/pagination/connection-type.ts';
import type { CursorsOf, ListCursors } from '../../graph/pagination/cursor.ts';
import { semanticNonNull } from '../../graph/semantic-non-null.ts';
import { Wallet } from '../../lookups/wallet.ts';
import { UnseenWebhookError } from '../client.ts';
import type { Subscribed, Webhook as WebhookShape } from '../rest.ts';
import { isRejected, UnsupportedOperationError } from '../unsupported-operation.ts';
import { TooManyWatchedWallets } from '../watched-wallets.ts';
import { Webhook } from './webhook.ts';

/** The payloads of the mutations. They hold edges and global ids, so that a client can update the lists that it shows. */

/** The change is made even if none of upstream's answers shows the webhook. Only the fields that show it fail then. */
type Changed = { readonly webhook: WebhookShape | UnseenWebhookError };
type Named = { readonly webhookId: string };
type AddressChanges = Named & { readonly added: readonly string[]; readonly removed: readonly string[] };
type AddressList = Named & { readonly addresses: readonly string[] };

/** The payload of a change, which rejects if upstream has not made it. */
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

export const SendTestEventPayload = builder.objectRef<Named>('SendTestEventPayload').implement({
  description: 'The service sends a test event, or has sent it.',
  fields: (t) => ({
    webhookId: t.expose('webhookId', { type: 'UUID', description: 'The id of the webhook.' }),
  }),
});

type Code = 'NOT_FOUND' | 'TYPE_MISMATCH' | 'REJECTED' | 'UNSUPPORTED';

/** A mistake that the caller can correct, as data of the mutation's result. */
class WebhookUserError {
  readonly code: Code;
  readonly message: string;

  constructor(code: Code, message: string) {
    this.code = code;
    this.message = message;
  }
}

const WebhookErrorCode = builder.enumType('WebhookErrorCode', {
  description: 'A mistake that the caller can correct.',
  values: {
    NOT_FOUND: { description: 'There is no such webhook.' },
    TYPE_MISMATCH: { description: "A filter does not belong to the webhook's type." },
    REJECTED: { description: 'The service refused the change for another reason, which message states.' },
    UNSUPPORTED: { description: 'This service has no such operation, as with sendTestEvent.' },
  } satisfies Record<Code, object>,
});

const WebhookError = builder.objectType(WebhookUserError, {
  name: 'WebhookError',
  description:
    'A mistake that the caller can correct. Failures of the service, keys and quotas are errors of the operation instead.',
  fields: (t) => ({
    code: t.expose('code', { type: WebhookErrorCode, description: 'The kind of mistake.' }),
    message: t.exposeString('message', {
      description: "The service's own message; the gateway's where the service gave none.",
    }),
  }),
});

/** The union `{change}Result`: the change's payload or a WebhookError. */
export const mutationResult = <Payload extends object>(
  change: string,
  payload: ObjectRef<BuilderTypes, Payload>,
) =>
  builder.unionType(`${change}Result`, {
    description: 'The change, or a mistake that the caller can correct.',
    types: [payload, WebhookError],
    resolveType: (value) => (value instanceof WebhookUserError ? WebhookError : payload),
  });

/** Resolves with the change's answer, or with a mistake that the caller can correct. Rejects with every other failure. */
export const asUserError = async <Answer>(change: Promise<Answer>): Promise<Answer | WebhookUserError> => {
  try {
    return await change;
  } catch (error) {
    if (error instanceof TooManyWatchedWallets) return new WebhookUserError('REJECTED', error.message);
    if (!isRejected(error) || error instanceof UnsupportedOperationError) throw error;
    const { status, serviceMessage } = error;
    if (status === 404)
      return new WebhookUserError('NOT_FOUND', serviceMessage || 'There is no such webhook.');
    const code = isTypeMismatch(serviceMessage ?? '') ? 'TYPE_MISMATCH' : 'REJECTED';
    return new WebhookUserError(
      code,
      serviceMessage || `The service refused the change with status ${status}.`,
    );
  }
};

/** Resolves with a WebhookError where the deployment lacks the operation, as most lack it. */
export const orUnsupported = async <Answer>(change: Promise<Answer>): Promise<Answer | WebhookUserError> => {
  try {
    return await change;
  } catch (error) {
    if (error instanceof UnsupportedOperationError) return new WebhookUserError('UNSUPPORTED', error.message);
    throw error;
  }
};

/**
 * Upstream has no error codes: only its wording shows a mismatch, such as "Webhook type balances cannot have activity_type".
 */
const isTypeMismatch = (serviceMessage: string): boolean =>
  /\b(?:transaction_type|counterparty|activity_type)\b/i.test(serviceMessage) &&
  /\b(?:type|types|webhooks?)\b/i.test(serviceMessage) &&
  /\b(?:can ?not|can't|only|not)\b/i.test(serviceMessage);

const addressPaging = pageArguments(1000, 'addresses');

const { connection: WebhookAddressConnection, edge: WebhookAddressEdge } = listConnectionTypes(
  { name: 'WebhookAddress', list: "a webhook's addresses" },
  Wallet,
);

const listOf = (webhookId: string): readonly string[] => ['webhook addresses', webhookId];

/** The edges of addresses that a mutation added. */
const addressEdges = (
  cursorsOf: CursorsOf,
  webhookId: string,
  addresses: readonly string[],
): readonly ItemEdge<Subscribed>[] => {
  const cursors = cursorsOf(listOf(webhookId));
  return addresses.map((address) => edgeOf(cursors, address, { address }));
};

builder.objectField(Webhook, 'addresses', (t) =>
  t.field({
    type: WebhookAddressConnection,
    nullable: true,
    description:
      "The wallets whose events it delivers, in the service's order. Null, with an error, when the service does not list them.",
    args: addressPaging.args,
    extensions: { ...semanticNonNull(), ...withCost<PageArgs>({ count: addressPaging.sizeOf }) },
    resolve: ({ webhookId }, { first, after }, { webhooks, cursorsOf }) =>
      connect({
        read: webhooks.addresses(webhookId),
        cursors: cursorsOf(listOf(webhookId)),
        first: addressPaging.sizeOf({ first }),
        after,
      }),
  }),
);

const paging = pageArguments(1000, 'webhooks');

/** There is one list of webhooks. */
const LIST = ['webhooks'];

const { connection: WebhookConnection, edge: WebhookEdge } = listConnectionTypes(
  { name: 'Webhook', list: "the key's webhooks" },
  Webhook,
);

/** The item did not come from a page. */
const UNKNOWN = { before: [], after: [], returned: [], nextOffset: null, ofTime: null };

/**
 * The edge of an item that a change added to a list, so that a client can add it to the list that it shows. Its cursor
 * searches for the item from the list's start.
 */
const edgeOf = <Value>(cursors: ListCursors, identity: string, node: Value): ItemEdge<Value> => ({
  node,
  get cursor() {
    return cursors.write({
      offset: null,
      index: 0,
      identity,
      rank: null,
      neighbours: UNKNOWN,
      recentOffsets: [],
      lead: null,
    });
  },
});

/** The edge of a webhook that a mutation created. */
const webhookEdge = (cursorsOf: CursorsOf, webhook: WebhookShape): ItemEdge<WebhookShape> =>
  edgeOf(cursorsOf(LIST), webhook.webhookId, webhook);

builder.queryField('webhooks', (t) =>
  t.field({
    type: WebhookConnection,
    nullable: true,
    description:
      "The key's webhooks, in the service's order. Null, with an error, when the service does not list them.",
    authScopes: { webhooks: true },
    args: paging.args,
    extensions: { ...semanticNonNull(), ...withCost<PageArgs>({ count: paging.sizeOf }) },
    resolve: (_root, { first, after }, { webhooks, cursorsOf }) =>
      connect({
        read: webhooks.list,
        cursors: cursorsOf(LIST),
        first: paging.sizeOf({ first }),
        after,
      }),
  }),
);
