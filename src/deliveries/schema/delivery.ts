import { withScope } from '../../graph/authorization.ts';
import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput } from '../../graph/errors.ts';
import { WebhookType } from '../../webhooks/schema/enums.ts';
import { InvalidCursorError } from '../log/errors.ts';
import type { DeliveryType, StoredDelivery } from '../log/log.ts';
import { mapErrorsAsync, toClientError } from './errors.ts';
import { DeliveryEvent, shapeOf } from './event.ts';

const AGAIN = 'Each selection after the first counts as reading the body again.';

export const WebhookDelivery = builder.objectRef<StoredDelivery>('WebhookDelivery');

builder.node(WebhookDelivery, {
  description:
    'A request that the service posted to this gateway. It was stored before the gateway answered it.',
  extensions: withScope('deliveries'),
  id: { resolve: ({ cursor }) => cursor },
  loadOne: (cursor, { deliveries }) =>
    deliveries.get(cursor).catch((error: unknown) => {
      if (error instanceof InvalidCursorError) throw badUserInput('Expected the id of a WebhookDelivery.');
      throw toClientError(error);
    }),
  fields: (t) => ({
    webhookId: t.expose('webhookId', {
      type: 'UUID',
      nullable: true,
      description: "The service's id of the webhook. Null when neither the headers nor the URL named it.",
    }),
    type: t.field({
      type: WebhookType,
      nullable: true,
      description:
        'The type of the events. Null when neither the headers nor the body name a type that this gateway knows.',
      resolve: ({ type }) => (type === null ? null : upper(type)),
    }),
    chainId: t.expose('chainId', {
      type: 'ChainId',
      nullable: true,
      description:
        'The id of the chain. Null when neither the headers nor the events name one, and when the events are of several chains.',
    }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'When this gateway stored the delivery.',
      resolve: ({ receivedAt }) => isoTime(receivedAt),
    }),
    dispatchedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the service sent the delivery. Null when the service did not say it.',
      resolve: ({ dispatchedAt }) => (dispatchedAt === null ? null : isoTime(dispatchedAt)),
    }),
    attempt: t.exposeInt('attempt', {
      nullable: true,
      description: 'The number of the attempt, from 0. Null when the service did not say it.',
    }),
    events: t.field({
      type: [DeliveryEvent],
      description: `The events of the delivery, at most 10,000. The list leaves out an item that can't be parsed, and the items beyond the limit: \`payload\` has them. ${AGAIN}`,
      args: {
        address: t.arg({
          type: 'Address',
          description:
            'Only events that concern this address, as in `DeliveryFilter.address`. Default: all events. An activity whose `subscribedAddress` is null concerns only the addresses that it names.',
        }),
      },
      extensions: withCost({ items: 2 }),
      resolve: async (delivery, { address }, { deliveries, answer }) =>
        answer.list(await mapErrorsAsync(deliveries.events(delivery, address ?? null)), shapeOf) as never,
    }),
    payload: t.field({
      type: 'JSON',
      description: `The body as JSON. An integer beyond 2^53 is a string. A body of more than 200 levels, 250,000 JSON values or 50,000 shapes of objects is its text as one string, and has no events. ${AGAIN}`,
      extensions: withCost({ bytes: 1500 }),
      resolve: (delivery, _args, { deliveries }) => mapErrorsAsync(deliveries.payload(delivery)),
    }),
  }),
});

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

const upper = (type: DeliveryType) => type.toUpperCase() as Uppercase<DeliveryType>;
