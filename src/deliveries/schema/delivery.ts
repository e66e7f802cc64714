import { withScope } from '../../graph/authorization.ts';
import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput } from '../../graph/errors.ts';
import { WebhookType } from '../../webhooks/schema/enums.ts';
import { InvalidCursorError } from '../log/errors.ts';
import type { DeliveryType, StoredDelivery } from '../log/log.ts';
import { mapErrorsAsync, toClientError } from './errors.ts';
import { DeliveryEvent, shapeOf } from './event.ts';

const RESELECTION = 'Each further selection counts as reading the body again.';

export const WebhookDelivery = builder.objectRef<StoredDelivery>('WebhookDelivery');

builder.node(WebhookDelivery, {
  description:
    'A request in which the service posted events to this gateway. It was stored before it was answered.',
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
      description: 'The webhook that the events are of. Null when neither a header nor the URL names it.',
    }),
    type: t.field({
      type: WebhookType,
      nullable: true,
      description: 'The type of its events. Null when neither a header nor the body names a known one.',
      resolve: ({ type }) => (type === null ? null : upper(type)),
    }),
    chainId: t.expose('chainId', {
      type: 'ChainId',
      nullable: true,
      description: 'The chain of its events. Null when the service names none.',
    }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'The time at which this gateway received it.',
      resolve: ({ receivedAt }) => isoTime(receivedAt),
    }),
    dispatchedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the service sent it. Null when the service omits it.',
      resolve: ({ dispatchedAt }) => (dispatchedAt === null ? null : isoTime(dispatchedAt)),
    }),
    attempt: t.exposeInt('attempt', {
      nullable: true,
      description: 'The number of the attempt, 0 for the first. Null when the service omits it.',
    }),
    events: t.field({
      type: [DeliveryEvent],
      description: `Its first 10,000 events. The list leaves out an item that can't be parsed; payload has all items. ${RESELECTION}`,
      args: {
        address: t.arg({
          type: 'Address',
          description:
            'Only the events that concern this address, by the rule of filter.address. Default: all events. An activity whose subscribedAddress is null concerns only the addresses that it names.',
        }),
      },
      extensions: withCost({ items: 2 }),
      resolve: async (delivery, { address }, { deliveries, answer }) =>
        answer.list(await mapErrorsAsync(deliveries.events(delivery, address ?? null)), shapeOf) as never,
    }),
    payload: t.field({
      type: 'JSON',
      description: `The body as the service sent it. An integer beyond 2^53 is a string. A body of more than 200 levels, 250,000 JSON values or 50,000 shapes of objects is its text, a string, and has no events. ${RESELECTION}`,
      extensions: withCost({ bytes: 1500 }),
      resolve: (delivery, _args, { deliveries }) => mapErrorsAsync(deliveries.payload(delivery)),
    }),
  }),
});

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

const upper = (type: DeliveryType) => type.toUpperCase() as Uppercase<DeliveryType>;
