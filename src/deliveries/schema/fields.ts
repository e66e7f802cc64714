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
      'What has been delivered and is still kept, oldest first. Null when the log can not be read.',
    authScopes: { deliveries: true },
    args: {
      ...rangeArguments,
      filter: t.arg({ type: DeliveryFilter, description: 'All when left out.' }),
    },
    extensions: withCost<Range>({ count: countOf }),
    resolve: (_root, { filter, ...range }, { deliveries }) =>
      deliveriesPage(deliveries, range, logFilter(filter)),
  }),
  deliveryUrl: t.field({
    type: 'URL',
    description:
      "The URL that the service must post a webhook's events to, so that they arrive at this gateway. Keep it secret: who knows it can post. A client's own key gets one when the service takes the key.",
    authScopes: { webhooks: true },
    args: {
      webhookId: t.arg({
        type: 'UUID',
        description: 'Names the webhook in the url, for a service that does not name it in its headers.',
      }),
    },
    resolve: async (_root, { webhookId }, { deliveries, webhooks }) => {
      // Else whoever makes up keys could fill the log, as many tenants.
      await webhooks.verifyKey();
      return deliveries.url(webhookId ?? null);
    },
  }),
}));

builder.objectField(Webhook, 'deliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnection,
    nullable: true,
    description: "This webhook's deliveries, oldest first. Null when the log can not be read.",
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
      'Each delivery once, in the order in which it was stored: from now on, or from after (a cursor) without a gap. A cursor that has been trimmed ends the subscription with CURSOR_EXPIRED. So does one of a delivery that the log has lost since, as after a restored backup. One that is no cursor ends it with INVALID_CURSOR.',
    authScopes: { deliveries: true },
    args: {
      after: t.arg.string({
        description: 'The cursor of the last delivery that arrived, or the head of a page.',
      }),
      filter: t.arg({ type: DeliveryFilter, description: 'All when left out.' }),
    },
    subscribe: (_root, { after, filter }, { deliveries }) =>
      deliveries.subscribe(after ?? null, logFilter(filter), toClientError),
    resolve: (delivery) => delivery,
  }),
);
