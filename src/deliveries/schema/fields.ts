import { SECRET } from '../../graph/authorization.ts';
import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';
import { connectionType } from '../../graph/pagination/connection-type.ts';
import type { PageInfo } from '../../graph/pagination/list-connection.ts';
import { semanticNonNull } from '../../graph/semantic-non-null.ts';
import { Wallet } from '../../lookups/wallet.ts';
import { Webhook, WebhookType } from '../../webhooks/schema/webhook.ts';
import type { DeliveryPage, DeliveryType, DeliveryFilter as LogFilter, StoredDelivery } from '../log/log.ts';
import type { TenantDeliveries } from '../tenant-deliveries.ts';
import { mapErrorsAsync, RefusedDelivery, toClientError, WebhookDelivery } from './delivery.ts';

builder.queryFields((t) => ({
  deliveries: t.field({
    type: WebhookDeliveryConnection,
    nullable: true,
    description:
      'The stored deliveries within the retention, oldest first. Null, with an error, when the log can not be read.',
    authScopes: { deliveries: true },
    args: {
      ...rangeArguments,
      filter: t.arg({
        type: DeliveryFilter,
        description: 'Only deliveries that match this filter. Default: all deliveries.',
      }),
    },
    extensions: { ...semanticNonNull(), ...withCost<Range>({ count: countOf }) },
    resolve: (_root, { filter, ...range }, { deliveries }) =>
      deliveriesPage(deliveries, range, logFilter(filter)),
  }),
  deliveryUrl: t.field({
    type: 'URL',
    description:
      "The URL to which the service must post a webhook's events, so that they arrive at this gateway. Keep it secret: any client that knows it can post. A client with its own API key gets a URL once the service has accepted the key.",
    authScopes: { webhooks: true },
    extensions: SECRET,
    args: {
      webhookId: t.arg({
        type: 'UUID',
        description: 'The webhook to name in the URL, for a service that does not name it in its headers.',
      }),
    },
    resolve: async (_root, { webhookId }, { deliveries, webhooks }) => {
      // Without the verification, a client could invent keys, and fill the log as many tenants.
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
      "This webhook's deliveries, oldest first. Null, with an error, when the log can not be read.",
    authScopes: { deliveries: true },
    args: rangeArguments,
    extensions: { ...semanticNonNull(), ...withCost<Range>({ count: countOf }) },
    resolve: ({ webhookId }, range, { deliveries }) =>
      deliveriesPage(deliveries, range, { webhookIds: [webhookId] }),
  }),
);

builder.objectField(Webhook, 'refusedDeliveries', (t) =>
  t.field({
    type: [RefusedDelivery],
    nullable: true,
    description:
      'The deliveries of this webhook that this gateway refused, newest first: at most 20. Each gateway remembers only its own, until it stops. Null, with an error, for a token without the scope deliveries.',
    authScopes: { deliveries: true },
    extensions: { ...semanticNonNull(), ...withCost({ count: () => 20 }) },
    resolve: ({ webhookId }, _args, { deliveries }) => [...deliveries.refused(webhookId)],
  }),
);

builder.objectField(Wallet, 'deliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnection,
    nullable: true,
    description:
      "The caller's stored deliveries that concern this wallet, as DeliveryFilter.address finds them, oldest first. Null, with an error, when the log can not be read.",
    authScopes: { deliveries: true },
    args: {
      ...rangeArguments,
      filter: t.arg({
        type: DeliveryFilter,
        description: 'Only deliveries that match this filter, too. Default: all of the wallet.',
      }),
    },
    extensions: { ...semanticNonNull(), ...withCost<Range>({ count: countOf }) },
    resolve: ({ address }, { filter, ...range }, { deliveries }) => {
      const { addresses = [], ...others } = logFilter(filter);
      return deliveriesPage(deliveries, range, { ...others, addresses: [[address], ...addresses] });
    },
  }),
);

builder.subscriptionField('deliveries', (t) =>
  t.field({
    type: WebhookDeliveryEdge,
    description:
      'Each delivery once, in the order in which it was stored: from now on, or after the cursor in after without a gap. CURSOR_EXPIRED ends the subscription when deliveries after the cursor have been trimmed, or the log has lost them, for example after a backup was restored. INVALID_CURSOR ends it when after is not a cursor.',
    authScopes: { deliveries: true },
    args: {
      after: t.arg.string({
        description:
          'The cursor of the last delivery that arrived, or the head of a page. Default: from now on.',
      }),
      filter: t.arg({
        type: DeliveryFilter,
        description: 'Only deliveries that match this filter. Default: all deliveries.',
      }),
    },
    subscribe: (_root, { after, filter }, { deliveries }) =>
      deliveries.subscribe(after ?? null, logFilter(filter), toClientError),
    resolve: (delivery) => delivery,
  }),
);

/** Bounds the memory of a filter, which a subscription keeps while it is open. */
const MAX_ALTERNATIVES = 100;

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description:
    'A delivery must match every field that is given. Null is the same as an omitted field. A list matches by any of its values; an empty list matches nothing.',
  fields: (t) => ({
    webhookIds: t.field({
      type: ['UUID'],
      description: `Deliveries of one of these webhooks; at most ${MAX_ALTERNATIVES}.`,
    }),
    types: t.field({
      type: [WebhookType],
      description: `Deliveries of one of these types; at most ${MAX_ALTERNATIVES}.`,
    }),
    chainIds: t.field({
      type: ['ChainId'],
      description: `Deliveries of one of these chains; at most ${MAX_ALTERNATIVES}.`,
    }),
    address: t.field({
      type: 'Address',
      description:
        'Deliveries with at least one event that concerns this address: as a side of a transaction or transfer, the counterparty, the spender or the token contract. Addresses in logs or call data do not count. The service omits the subscribed side of an activity, so that side finds an activity only if Activity.subscribedAddress is known.',
    }),
    addresses: t.field({
      type: ['Address'],
      description: `Deliveries with at least one event that concerns one of these addresses, as for address; at most ${MAX_ALTERNATIVES}.`,
    }),
  }),
});

type FilterInput = typeof DeliveryFilter.$inferInput | null | undefined;

/** Maps the argument to the log's filter. Throws OPERATION_TOO_COMPLEX for a list that is too long. */
const logFilter = (filter: FilterInput): LogFilter => ({
  webhookIds: alternatives('webhookIds', filter?.webhookIds),
  types: alternatives('types', filter?.types)?.map((type) => type.toLowerCase() as DeliveryType),
  chainIds: alternatives('chainIds', filter?.chainIds),
  addresses: addressLists(filter),
});

const addressLists = (filter: FilterInput): readonly (readonly string[])[] => {
  const addresses = alternatives('addresses', filter?.addresses);
  return [...(filter?.address ? [[filter.address]] : []), ...(addresses ? [[...new Set(addresses)]] : [])];
};

const alternatives = <Value>(name: string, values: readonly Value[] | null | undefined) => {
  if (values && values.length > MAX_ALTERNATIVES)
    throw clientError(
      'OPERATION_TOO_COMPLEX',
      `Expected at most ${MAX_ALTERNATIVES} ${name} in a filter, got ${values.length}.`,
    );
  return values ?? undefined;
};

const DEFAULT_SIZE = 20;
const MAX_SIZE = 1000;

const WebhookDeliveryEdge = builder.objectRef<StoredDelivery>('WebhookDeliveryEdge').implement({
  description: 'A delivery and its position in the log.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Pass it as after to resume after this delivery.' }),
    node: t.field({ type: WebhookDelivery, description: 'The delivery.', resolve: (delivery) => delivery }),
  }),
});

type Connection = { readonly page: DeliveryPage; readonly pageInfo: PageInfo };

const WebhookDeliveryConnection = connectionType<Connection, StoredDelivery, StoredDelivery>({
  name: 'WebhookDelivery',
  description: 'A page of deliveries, in the order in which they were stored.',
  edge: WebhookDeliveryEdge,
  node: WebhookDelivery,
  whenNull: 'None is null.',
  edges: ({ page }, answer) => answer.sliced(page.deliveries),
  nodes: ({ page }, answer) => answer.sliced(page.deliveries),
});

builder.objectField(WebhookDeliveryConnection, 'head', (t) =>
  t.string({
    description:
      'The cursor of the end of the log when this page was read, also for an empty page. A subscription after it misses no delivery.',
    resolve: ({ page }) => page.head,
  }),
);

const rangeArguments = builder.args((t) => ({
  first: t.int({
    description: `The number of deliveries, from the oldest of the range: at most ${MAX_SIZE}; ${DEFAULT_SIZE} when neither first nor last is given.`,
  }),
  after: t.string({
    description:
      'Only deliveries that were stored after this cursor. Fails with CURSOR_EXPIRED when the log can not resume there, and with INVALID_CURSOR when it is not a cursor of deliveries.',
  }),
  last: t.int({
    description: `The number of deliveries, from the newest of the range: at most ${MAX_SIZE}.`,
  }),
  before: t.string({
    description: 'Only deliveries that were stored before this cursor. Fails as `after` does.',
  }),
}));

/** The values of `rangeArguments`. */
type Range = {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
};

/** Reads a page. Rejects with BAD_USER_INPUT, or with an error of `toClientError`. */
const deliveriesPage = async (
  deliveries: TenantDeliveries,
  range: Range,
  filter: LogFilter,
): Promise<Connection> => {
  const { take, limit } = readSize(range);
  const after = range.after ?? undefined;
  const before = range.before ?? undefined;
  const page = await mapErrorsAsync(deliveries.read({ after, before, take, limit, filter }));
  return {
    page,
    pageInfo: {
      hasNextPage: take === 'oldest' ? page.hasMore : before !== undefined,
      hasPreviousPage: take === 'newest' ? page.hasMore : after !== undefined,
      startCursor: page.deliveries[0]?.cursor ?? null,
      endCursor: page.deliveries.at(-1)?.cursor ?? null,
    },
  };
};

/** The number of deliveries that a page may have. Throws BAD_USER_INPUT for an invalid range. */
const countOf = (range: Range): number => readSize(range).limit;

const readSize = ({ first, last }: Range): { take: 'oldest' | 'newest'; limit: number } => {
  if (first != null && last != null) throw badUserInput('Expected first or last, got both.');
  const limit = last ?? first ?? DEFAULT_SIZE;
  if (limit < 0 || limit > MAX_SIZE)
    throw badUserInput(`Expected ${last == null ? 'first' : 'last'} from 0 to ${MAX_SIZE}, got ${limit}.`);
  return { take: last == null ? 'oldest' : 'newest', limit };
};
