import { forbidden } from '../../graph/authorization.ts';
import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';
import { decodeGlobalId, encodeGlobalId } from '../../graph/global-id.ts';
import type { StoredDelivery } from '../log/log.ts';
import type { Replayed } from '../replay.ts';
import { mapErrorsAsync } from './delivery.ts';

const MOST = 20;

const ReplayedDelivery = builder
  .objectRef<Replayed & { readonly cursor: string }>('ReplayedDelivery')
  .implement({
    description: 'What came of posting one stored delivery.',
    fields: (t) => ({
      deliveryId: t.id({
        description: 'The id of the WebhookDelivery.',
        resolve: ({ cursor }) => encodeGlobalId('WebhookDelivery', cursor),
      }),
      status: t.exposeInt('status', {
        nullable: true,
        description: 'The HTTP status of the answer. Null when there was none.',
      }),
      latencyMs: t.exposeInt('latencyMs', { description: 'Milliseconds until the answer, or the failure.' }),
      problem: t.exposeString('problem', {
        nullable: true,
        description: 'What went wrong. Null when the URL answered 2xx.',
      }),
    }),
  });

const ReplayDeliveriesInput = builder.inputType('ReplayDeliveriesInput', {
  description: 'Which stored deliveries to post, and where.',
  fields: (t) => ({
    ids: t.idList({
      required: true,
      description: `The ids of stored deliveries, at least one and at most ${MOST}. They are posted in this order, each once.`,
    }),
    url: t.field({ type: 'URL', required: true, description: 'Where to post them.' }),
  }),
});

const ReplayDeliveriesPayload = builder
  .objectRef<readonly (Replayed & { readonly cursor: string })[]>('ReplayDeliveriesPayload')
  .implement({
    description: 'Stored deliveries were posted.',
    fields: (t) => ({
      replayed: t.field({
        type: [ReplayedDelivery],
        description: 'What came of each, in the order of ids.',
        // The mutation's cost counts them.
        extensions: withCost({ count: () => 1 }),
        resolve: (replayed) => [...replayed],
      }),
    }),
  });

builder.mutationField('replayDeliveries', (t) =>
  t.field({
    type: ReplayDeliveriesPayload,
    description:
      "Posts bodies of the caller's stored deliveries to a URL of the caller's choice, as the service posted them here, but unsigned. Redirects are not followed, and of an answer only the status is told. A gateway in front of a service elsewhere posts to public addresses alone. The gateway does not try again: after one without an answer, the rest is not sent. Needs the scope deliveries as well.",
    authScopes: { webhooks: true },
    args: {
      input: t.arg({
        type: ReplayDeliveriesInput,
        required: true,
        description: 'The deliveries and the URL.',
      }),
    },
    extensions: withCost<{ input: { ids: readonly unknown[] } }>({ count: ({ input }) => input.ids.length }),
    resolve: async (_root, { input: { ids, url } }, { deliveries, scopes }) => {
      const cursors = [...new Set(ids.map((id) => cursorOf(String(id))))];
      if (cursors.length === 0 || cursors.length > MOST)
        throw badUserInput(`Expected 1 to ${MOST} ids of deliveries, got ${cursors.length}.`);
      if (!scopes.has('deliveries')) throw forbidden('deliveries');
      const found: StoredDelivery[] = [];
      for (const cursor of cursors) {
        const delivery = await mapErrorsAsync(deliveries.get(cursor));
        if (delivery === null)
          throw badUserInput('Expected ids of stored deliveries, got one that is not stored.');
        found.push(delivery);
      }
      const replayed = await deliveries.replay(url, found);
      if (replayed === null)
        throw clientError('RATE_LIMITED', 'Too many deliveries are replayed at this moment. Try again.', {
          retryAfterMs: 1000,
        });
      return replayed.map((each, index) => ({ ...each, cursor: cursors[index] ?? '' }));
    },
  }),
);

const cursorOf = (id: string): string => {
  const { typename, id: cursor } = decodeGlobalId(id);
  if (typename !== 'WebhookDelivery') throw badUserInput('Expected ids of WebhookDelivery, got another id.');
  return cursor;
};
