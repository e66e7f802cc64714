import DataLoader from 'dataloader';
import type { ReadPage } from '../upstream/list-loader.ts';
import { type Page, valuesOf } from '../upstream/page.ts';
import { MalformedFieldError } from '../upstream/parse/fields.ts';
import type { Subscribed, Webhook } from './rest.ts';

/** The reads of upstream, one request for each call. */
type Source = {
  get(webhookId: string): Promise<Webhook | null>;
  list(offset: string | null): Promise<Page<Webhook>>;
  listAddresses(webhookId: string, offset: string | null): Promise<Page<Subscribed>>;
};

/** The webhooks that one operation reads: each webhook and each page is read once, and nothing outlives the operation. */
export type WebhookLoader = {
  /** Null when there is no such webhook. */
  load(webhookId: string): Promise<Webhook | null>;
  readonly list: ReadPage<Webhook>;
  addresses(webhookId: string): ReadPage<Subscribed>;
  /** Records a webhook as upstream answered it: later loads resolve with it, and lists are read again. */
  prime(webhook: Webhook): void;
  /** Forgets all that was read of a webhook that has changed, or may have. */
  invalidate(webhookId: string): void;
};

export const createWebhookLoader = (source: Source): WebhookLoader => {
  const known = new Map<string, Webhook>();
  const reading = new Set<Promise<unknown>>();

  // Each load is a request of its own: the batch resolves with promises, so that no load waits for another.
  const webhooks = new DataLoader(async (ids: readonly string[]) => {
    // A list under way may bring the webhook, which then needs no request of its own.
    await Promise.allSettled(reading);
    return ids.map((id) => ({ webhook: known.get(id) ?? source.get(id) }));
  });

  const readList = async (offset: string | null): Promise<Page<Webhook>> => {
    const page = await source.list(offset);
    for (const value of valuesOf(page.items))
      if (!(value instanceof MalformedFieldError)) known.set(value.webhookId, value);
    return page;
  };
  const lists = memoize((offset: string | null) => {
    const page = readList(offset);
    reading.add(page);
    return page.finally(() => reading.delete(page));
  });
  const addresses = memoize(([webhookId, offset]: readonly [string, string | null]) =>
    source.listAddresses(webhookId, offset),
  );

  const invalidate = (webhookId: string): void => {
    known.delete(webhookId);
    webhooks.clear(webhookId);
    lists.clear();
    addresses.clear();
  };

  return {
    load: async (webhookId) => (await webhooks.load(webhookId)).webhook,
    list: ({ offset }) => lists.get(offset),
    addresses:
      (webhookId) =>
      ({ offset }) =>
        addresses.get([webhookId, offset]),
    prime(webhook) {
      invalidate(webhook.webhookId);
      known.set(webhook.webhookId, webhook);
    },
    invalidate,
  };
};

/** Calls `read` once for each key, and at once. */
const memoize = <Key, Answer>(read: (key: Key) => Promise<Answer>) => {
  const answers = new Map<string, Promise<Answer>>();
  return {
    get(key: Key): Promise<Answer> {
      const name = JSON.stringify(key);
      const answer = answers.get(name) ?? read(key);
      answers.set(name, answer);
      return answer;
    },
    clear: () => answers.clear(),
  };
};
