import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { Webhook } from '../../webhooks/schema/webhook.ts';
import {
  countOf,
  deliveriesPage,
  type Range,
  rangeArguments,
  WebhookDeliveryConnection,
  WebhookDeliveryEdge,
} from './connection.ts';
import { toClientError } from './errors.ts';
import { DeliveryFilter, logFilter } from './filter.ts';

builder.queryFields((t) => ({
  deliveries: t.field({
    type: WebhookDeliveryConnection,
    nullable: true,
    description:
      'The deliveries in the log, oldest first. The log trims old deliveries. Null, with an error, when the log can not be read.',
    authScopes: { deliveries: true },
    args: {
      ...rangeArguments,
      filter: t.arg({
        type: DeliveryFilter,
        description: 'Only deliveries that match. Default: all deliveries.',
      }),
    },
    extensions: withCost<Range>({ count: countOf }),
    resolve: (_root, { filter, ...range }, { deliveries }) =>
      deliveriesPage(deliveries, range, logFilter(filter)),
  }),
  deliveryUrl: t.field({
    type: 'URL',
    description:
      "The URL that the service must post a webhook's events to, so that they arrive at this gateway. Keep it secret: anyone who knows it can post. A caller with an API key of its own gets a URL only when the service accepts the key.",
    authScopes: { webhooks: true },
    args: {
      webhookId: t.arg({
        type: 'UUID',
        description: 'The webhook that the URL names, for a service that does not name it in its headers.',
      }),
    },
    resolve: async (_root, { webhookId }, { deliveries, webhooks }) => {
      // A client could otherwise make up keys and fill the log as many tenants.
      await webhooks.verifyKey();
      return deliveries.url(webhookId ?? null);
    },
  }),
}));

builder.objectField(Webhook, 'deliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnection,
    nullable: true,
    description:
      "This webhook's deliveries in the log, oldest first. Null, with an error, when the log can not be read.",
    authScopes: { deliveries: true },
    args: rangeArguments,
    extensions: withCost<Range>({ count: countOf }),
    resolve: ({ webhookId }, range, { deliveries }) =>
      deliveriesPage(deliveries, range, { webhookIds: [webhookId] }),
  }),
);

builder.subscriptionField('deliveries', (t) =>
  t.field({
    type: WebhookDeliveryEdge,
    description:
      'Each delivery once, in the order in which it was stored: from now on, or after a cursor without a gap. The subscription ends with CURSOR_EXPIRED when the log has trimmed the cursor, or has lost its delivery since, as after a restored backup. It ends with INVALID_CURSOR when `after` is not a cursor of deliveries.',
    authScopes: { deliveries: true },
    args: {
      after: t.arg.string({
        description:
          'The cursor of the last delivery that arrived, or the `head` of a page. Default: from now on.',
      }),
      filter: t.arg({
        type: DeliveryFilter,
        description: 'Only deliveries that match. Default: all deliveries.',
      }),
    },
    subscribe: (_root, { after, filter }, { deliveries }) =>
      deliveries.subscribe(after ?? null, logFilter(filter), toClientError),
    resolve: (delivery) => delivery,
  }),
);
