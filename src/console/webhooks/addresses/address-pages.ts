import { WebhookAddresses } from '../../__generated__/operations.ts';
import { send } from '../../api/client.ts';
import type { Problem } from '../../api/problems.ts';
import type { LoadPage } from '../../api/use-connection.ts';
import type { Outcome } from '../change.ts';

export type ListedAddress = { readonly address: string };

const PAGE = 100;
const COUNT_PAGE = 1000;
/** Beyond as many addresses, a count says "at least". */
const MOST_COUNT_PAGES = 10;

const NO_WEBHOOK: Problem = {
  code: 'NOT_FOUND',
  message: 'There is no such webhook. It was deleted in the meantime.',
  path: [],
  retryAfterMs: null,
};

const NO_LIST: Problem = {
  code: 'UPSTREAM_REJECTED',
  message: 'The service does not list the addresses.',
  path: [],
  retryAfterMs: null,
};

export const loadAddresses =
  (webhookId: string, first = PAGE): LoadPage<ListedAddress> =>
  async (after, signal) => {
    const { data, problems } = await send(WebhookAddresses, { webhookId, first, after }, signal);
    const connection = data?.webhook?.addresses ?? null;
    if (connection !== null || problems.length > 0) return { connection, problems };
    return { connection, problems: [data?.webhook ? NO_LIST : NO_WEBHOOK] };
  };

export type Removal = { readonly count: number; readonly isWhole: boolean };

/** Counts the addresses of the list that another list would not keep. */
export const countRemoved = async (webhookId: string, kept: readonly string[]): Promise<Outcome<Removal>> => {
  const load = loadAddresses(webhookId, COUNT_PAGE);
  const { signal } = new AbortController();
  const stay = new Set(kept.map((address) => address.toLowerCase()));
  let count = 0;
  let after: string | null = null;
  for (let page = 0; page < MOST_COUNT_PAGES; page++) {
    const { connection, problems } = await load(after, signal);
    if (connection === null) return { kind: 'failed', problem: problems[0] ?? NO_LIST };
    count += connection.edges.filter((edge) => edge?.node && !stay.has(edge.node.address)).length;
    after = connection.pageInfo.endCursor;
    if (!connection.pageInfo.hasNextPage) return { kind: 'done', value: { count, isWhole: true } };
  }
  return { kind: 'done', value: { count, isWhole: false } };
};
