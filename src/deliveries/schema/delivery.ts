import { withScope } from '../../graph/authorization.ts';
import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput } from '../../graph/errors.ts';
import { WebhookType } from '../../webhooks/schema/enums.ts';
import { InvalidCursorError } from '../log/errors.ts';
import type { DeliveryType, StoredDelivery } from '../log/log.ts';
import { mapErrorsAsync, toClientError } from './errors.ts';
import { DeliveryEvent, shapeOf } from './event.ts';

const AGAIN = 'Each further selection counts as reading the body again.';

export const WebhookDelivery = builder.objectRef<StoredDelivery>('WebhookDelivery');

builder.node(WebhookDelivery, {
  description: 'One request of the service to this gateway, stored before it was answered.',
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
      description: 'Null when neither the header nor the url named the webhook.',
    }),
    type: t.field({
      type: WebhookType,
      nullable: true,
      description: 'Null when neither the header nor the body says one that is known.',
      resolve: ({ type }) => (type === null ? null : upper(type)),
    }),
    chainId: t.expose('chainId', {
      type: 'ChainId',
      nullable: true,
      description: 'Null when the service did not say it.',
    }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'When this gateway stored it.',
      resolve: ({ receivedAt }) => isoTime(receivedAt),
    }),
    dispatchedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the service sent it. Null when it did not say.',
      resolve: ({ dispatchedAt }) => (dispatchedAt === null ? null : isoTime(dispatchedAt)),
    }),
    attempt: t.exposeInt('attempt', {
      nullable: true,
      description: '0 for the first attempt. Null when the service did not say.',
    }),
    events: t.field({
      type: [DeliveryEvent],
      description: `What happened. An item that does not read is left out, and so is what is beyond the first 10,000: payload has it. ${AGAIN}`,
      args: {
        address: t.arg({
          type: 'Address',
          description:
            'Only what concerns this address, as filter.address finds it; all when left out. An activity whose subscribedAddress is null concerns only the addresses that it names.',
        }),
      },
      extensions: withCost({ items: 2 }),
      resolve: async (delivery, { address }, { deliveries, answer }) =>
        answer.list(await mapErrorsAsync(deliveries.events(delivery, address ?? null)), shapeOf) as never,
    }),
    payload: t.field({
      type: 'JSON',
      description: `The body as it came; an integer beyond 2^53 as a string. One of more than 200 levels, 250,000 JSON values or 50,000 shapes of objects is its text, a string, and has no events. ${AGAIN}`,
      extensions: withCost({ bytes: 1500 }),
      resolve: (delivery, _args, { deliveries }) => mapErrorsAsync(deliveries.payload(delivery)),
    }),
  }),
});

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

const upper = (type: DeliveryType) => type.toUpperCase() as Uppercase<DeliveryType>;
