import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { connect, type ItemEdge } from '../../graph/pagination/connection.ts';
import { listConnectionTypes } from '../../graph/pagination/connection-type.ts';
import type { CursorsOf } from '../../graph/pagination/cursor.ts';
import { type PageArgs, pageArguments } from '../../graph/pagination/page-arguments.ts';
import { Wallet } from '../../wallets/schema.ts';
import type { Subscribed } from '../rest.ts';
import { edgeOf } from './connection.ts';
import { Webhook } from './webhook.ts';

const paging = pageArguments(1000, 'addresses');

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
    args: paging.args,
    extensions: withCost<PageArgs>({ count: paging.sizeOf }),
    resolve: ({ webhookId }, { first, after }, { webhooks, cursorsOf }) =>
      connect({
        read: webhooks.addresses(webhookId),
        cursors: cursorsOf(listOf(webhookId)),
        first: paging.sizeOf({ first }),
        after,
      }),
  }),
);
