import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { connect, type ItemEdge } from '../../graph/pagination/connection.ts';
import { listConnectionTypes, type PageArgs, pageArguments } from '../../graph/pagination/connection-type.ts';
import type { CursorsOf, ListCursors } from '../../graph/pagination/cursor.ts';
import { Wallet } from '../../lookups/wallet.ts';
import type { Subscribed, Webhook as WebhookShape } from '../rest.ts';
import { Webhook } from './webhook.ts';

const addressPaging = pageArguments(1000, 'addresses');

const { connection: WebhookAddressConnection, edge: WebhookAddressEdge } = listConnectionTypes(
  { name: 'WebhookAddress', list: "a webhook's addresses" },
  Wallet,
);

export { WebhookAddressEdge };

const listOf = (webhookId: string): readonly string[] => ['webhook addresses', webhookId];

/** The edges of addresses that a mutation added. */
export const addressEdges = (
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
      "The wallets whose events it delivers, in the service's order. Null when the service does not list them.",
    args: addressPaging.args,
    extensions: withCost<PageArgs>({ count: addressPaging.sizeOf }),
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

export { WebhookEdge };

/** The item did not come from a page. */
const UNKNOWN = { before: [], after: [], returned: [], nextOffset: null };

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
    });
  },
});

/** The edge of a webhook that a mutation created. */
export const webhookEdge = (cursorsOf: CursorsOf, webhook: WebhookShape): ItemEdge<WebhookShape> =>
  edgeOf(cursorsOf(LIST), webhook.webhookId, webhook);

builder.queryField('webhooks', (t) =>
  t.field({
    type: WebhookConnection,
    nullable: true,
    description: "The key's webhooks, in the service's order. Null when the service does not list them.",
    authScopes: { webhooks: true },
    args: paging.args,
    extensions: withCost<PageArgs>({ count: paging.sizeOf }),
    resolve: (_root, { first, after }, { webhooks, cursorsOf }) =>
      connect({
        read: webhooks.list,
        cursors: cursorsOf(LIST),
        first: paging.sizeOf({ first }),
        after,
      }),
  }),
);
