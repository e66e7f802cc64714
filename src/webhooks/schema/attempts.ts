import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { type DeliveryAttempt as DeliveryAttemptShape, MAX_ATTEMPTS } from '../attempts.ts';
import { UnsupportedOperationError } from '../unsupported-operation.ts';
import { asUserError, mutationResult, orUnsupported } from './payloads.ts';
import { Webhook } from './webhook.ts';

/** What a service tells of its attempts to deliver, and how it is made to deliver again. */

const DeliveryAttempt = builder.objectRef<DeliveryAttemptShape>('DeliveryAttempt').implement({
  description: "One attempt of the service to post a delivery to the webhook's url.",
  fields: (t) => ({
    deliveryId: t.exposeString('deliveryId', {
      description:
        "The service's id of the delivery, for `resendDeliveries`. All attempts at it share the id.",
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain of its events.' }),
    attemptedAt: t.expose('attemptedAt', { type: 'DateTime', description: 'When it was sent.' }),
    latencyMs: t.exposeInt('latencyMs', {
      description: 'Milliseconds until the answer, or until it failed.',
    }),
    attempt: t.exposeInt('attempt', { description: 'The number of the attempt, 0 for the first.' }),
    accepted: t.exposeBoolean('accepted', { description: 'Whether the url answered 2xx.' }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The HTTP status of the answer. Null when the url did not answer.',
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'What went wrong. Null when it was accepted.',
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the service tries again by itself. Null when it does not.',
    }),
    bytes: t.exposeInt('bytes', { description: 'The size of the body.' }),
    payload: t.expose('payload', {
      type: 'JSON',
      nullable: true,
      description:
        "The body, as `WebhookDelivery.payload`. Null when it has more than 20,000 characters, and for events that go to another tenant's delivery URL.",
    }),
  }),
});

builder.objectField(Webhook, 'attempts', (t) =>
  t.field({
    type: [DeliveryAttempt],
    nullable: true,
    description:
      "The service's newest attempts to deliver, newest first: at most 50, and only those since it started. Null where the service does not tell, and, with an error, for a token without the scope deliveries. Each webhook is a request to the service that costs no compute units.",
    authScopes: { deliveries: true },
    extensions: withCost({ count: () => MAX_ATTEMPTS, bytes: 1500 }),
    resolve: async ({ webhookId, url }, _args, { webhooks, deliveries }) => {
      try {
        const attempts = await webhooks.attempts(webhookId);
        if (url === null || !deliveries.isOthers(webhookId, url)) return [...attempts];
        return attempts.map((attempt) => ({ ...attempt, payload: null }));
      } catch (error) {
        if (error instanceof UnsupportedOperationError) return null;
        throw error;
      }
    },
  }),
);

const ResendDeliveriesInput = builder.inputType('ResendDeliveriesInput', {
  description: 'Which deliveries of a webhook to send again.',
  fields: (t) => ({
    webhookId: t.field({ type: 'UUID', required: true, description: "The service's id of the webhook." }),
    deliveryIds: t.stringList({
      description:
        'Ids of `Webhook.attempts`. Those that the service no longer knows are passed over. Omitted or null: all whose last attempt failed, as far as the service knows them.',
    }),
  }),
});

const ResendDeliveriesPayload = builder
  .objectRef<{ readonly webhookId: string; readonly resent: number }>('ResendDeliveriesPayload')
  .implement({
    description: 'The service sends the deliveries again.',
    fields: (t) => ({
      webhookId: t.expose('webhookId', { type: 'UUID', description: 'The id of the webhook.' }),
      resent: t.exposeInt('resent', {
        description:
          'How many deliveries these are: fewer than were named where the service no longer knows some.',
      }),
    }),
  });

builder.mutationField('resendDeliveries', (t) =>
  t.field({
    type: mutationResult('ResendDeliveries', ResendDeliveriesPayload),
    description:
      "Makes the service post deliveries to the webhook's url again, with the same bodies. Those that wait for their next attempt are sent now instead. A receiver that has one already gets it once more, so repeating this is harmless where repeats are told by their body, as in this gateway. Where the service has no such operation, the result is a WebhookError with the code UNSUPPORTED: `replayDeliveries` sends what is stored here.",
    authScopes: { webhooks: true },
    args: {
      input: t.arg({ type: ResendDeliveriesInput, required: true, description: 'The deliveries.' }),
    },
    extensions: withCost<{ input: { deliveryIds?: readonly string[] | null } }>({
      count: ({ input }) => input.deliveryIds?.length ?? 1,
    }),
    resolve: (_root, { input: { webhookId, deliveryIds } }, { webhooks }) => {
      const ids = deliveryIds ? [...new Set(deliveryIds)] : null;
      const change = webhooks.resendDeliveries(webhookId, ids).then((resent) => ({ webhookId, resent }));
      return asUserError(orUnsupported(change));
    },
  }),
);
