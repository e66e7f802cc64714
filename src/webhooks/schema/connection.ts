import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { connect, type ItemEdge } from '../../graph/pagination/connection.ts';
import { listConnectionTypes } from '../../graph/pagination/connection-type.ts';
import type { CursorsOf } from '../../graph/pagination/cursor.ts';
import { type PageArgs, pageArguments } from '../../graph/pagination/page-arguments.ts';
import type { Webhook as WebhookShape } from '../rest.ts';
import { edgeOf } from './edge.ts';
import { Webhook } from './webhook.ts';

const paging = pageArguments(1000, 'webhooks');

/** There is one list of webhooks. */
const LIST = ['webhooks'];

const { connection: WebhookConnection, edge: WebhookEdge } = listConnectionTypes(
  { name: 'Webhook', list: "the key's webhooks" },
  Webhook,
);

export { WebhookEdge };

/** The edge of a webhook that no page has brought. */
export const webhookEdge = (cursorsOf: CursorsOf, webhook: WebhookShape): ItemEdge<WebhookShape> =>
  edgeOf(cursorsOf(LIST), webhook.webhookId, webhook);

builder.queryField('webhooks', (t) =>
  t.field({
    type: WebhookConnection,
    nullable: true,
    description: "The webhooks of the key, in the service's order. Null when it does not list them.",
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
