import { Webhooks } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import type { Problem } from '../api/problems.ts';
import { type Item, type LoadPage, type Paged, useConnection } from '../api/use-connection.ts';
import { eachOnce } from './each-once.ts';
import type { Webhook } from './webhook-words.ts';

const PAGE = 20;

const NO_LIST: Problem = {
  code: 'UPSTREAM_REJECTED',
  message: 'The service does not list webhooks.',
  path: [],
  retryAfterMs: null,
};

const load: LoadPage<Webhook> = async (after, signal) => {
  const { data, problems } = await send(Webhooks, { first: PAGE, after }, signal);
  const connection = data?.webhooks ?? null;
  return { connection, problems: connection === null && problems.length === 0 ? [NO_LIST] : problems };
};

type List = Paged<Webhook> & {
  created(webhook: Webhook | null): void;
  changed(webhook: Webhook): void;
  deleted(webhook: Webhook): void;
};

/** The list of webhooks, with the changes of this page in it. */
export const useWebhooks = (): List => {
  const list = useConnection(load);
  return {
    ...list,
    items: eachOnce(list.items, ({ id }) => id),
    created(node) {
      if (node === null) list.reload();
      else list.change((items) => [{ node, before: null }, ...items]);
    },
    changed(webhook) {
      const put = (item: Item<Webhook>) => (item.node.id === webhook.id ? { ...item, node: webhook } : item);
      list.change((items) => items.map(put));
    },
    deleted({ id }) {
      const left = list.items.filter(({ node }) => node.id !== id);
      list.change((items) => items.filter(({ node }) => node.id !== id));
      if (left.length === 0 && list.hasMore) list.reload();
    },
  };
};
