import { builder } from '../../graph/builder.ts';
import { badUserInput } from '../../graph/errors.ts';
import { connectionType } from '../../graph/pagination/connection-type.ts';
import type { PageInfo } from '../../graph/pagination/list-connection.ts';
import type { DeliveryFilter, DeliveryPage, StoredDelivery } from '../log/log.ts';
import type { TenantDeliveries } from '../tenant-deliveries.ts';
import { mapErrorsAsync, WebhookDelivery } from './delivery.ts';

const DEFAULT_SIZE = 20;
const MAX_SIZE = 1000;

export const WebhookDeliveryEdge = builder.objectRef<StoredDelivery>('WebhookDeliveryEdge').implement({
  description: 'A delivery and its position in the log.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Pass it as after to resume after this delivery.' }),
    node: t.field({ type: WebhookDelivery, description: 'The delivery.', resolve: (delivery) => delivery }),
  }),
});

type Connection = { readonly page: DeliveryPage; readonly pageInfo: PageInfo };

export const WebhookDeliveryConnection = connectionType<Connection, StoredDelivery, StoredDelivery>({
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

export const rangeArguments = builder.args((t) => ({
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
export type Range = {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
};

/** Reads a page. Rejects with BAD_USER_INPUT, or with an error of `toClientError`. */
export const deliveriesPage = async (
  deliveries: TenantDeliveries,
  range: Range,
  filter: DeliveryFilter,
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
export const countOf = (range: Range): number => readSize(range).limit;

const readSize = ({ first, last }: Range): { take: 'oldest' | 'newest'; limit: number } => {
  if (first != null && last != null) throw badUserInput('Expected first or last, got both.');
  const limit = last ?? first ?? DEFAULT_SIZE;
  if (limit < 0 || limit > MAX_SIZE)
    throw badUserInput(`Expected ${last == null ? 'first' : 'last'} from 0 to ${MAX_SIZE}, got ${limit}.`);
  return { take: last == null ? 'oldest' : 'newest', limit };
};
