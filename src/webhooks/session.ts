import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Deadline } from '../lib/deadlines.ts';
import { atMostEntries } from '../lib/memo.ts';
import type { KeyedQueue } from '../lib/tasks.ts';
import { type SharedRequest, startShared } from '../upstream/cache/single-flight.ts';
import type { UpstreamClient } from '../upstream/client/client.ts';
import type { RequestScope } from '../upstream/client/request.ts';
import type { ReadPage } from '../upstream/list-loader.ts';
import { type Page, valuesOf } from '../upstream/page.ts';
import { MalformedFieldError } from '../upstream/parse/fields.ts';
import { createWebhookClient, type WebhookClient } from './client.ts';
import type { DeliveredAddresses } from './delivered-addresses.ts';
import { soleAddress, soleAddressIn } from './known-address.ts';
import type { AddressChanges, NewWebhook, Subscribed, Webhook, WebhookChanges } from './rest.ts';
import type { SubscribedAddresses } from './subscribed-addresses.ts';
import { isRejected, UnsupportedOperationError } from './unsupported-operation.ts';

/**
 * The webhooks of one key in one operation, with read-your-writes: a `load` after a change resolves with the changed
 * webhook. Every method rejects with UpstreamError if upstream does not perform the operation.
 */
export type WebhookSession = Pick<WebhookLoader, 'load' | 'list' | 'addresses'> &
  Pick<WebhookClient, 'sendTestEvent' | 'attempts' | 'resendDeliveries'> & {
    /** Resolves if upstream accepts a client's own key, or did so within the last hour. The gateway's key is not verified. */
    verifyKey(): Promise<void>;
    /** Reads the whole list anew. Leaves out what can't be parsed. */
    listAll(): Promise<readonly Webhook[]>;
    /**
     * The only address of a webhook that upstream has just shown; null for none or several, and if the webhook is gone.
     * Undefined if this deployment does not list addresses. `known`: the address may be up to five minutes old, as long as the
     * webhook's `updatedAt` is the same.
     */
    soleAddress(webhook: Webhook, freshness: 'known' | 'read'): Promise<string | null | undefined>;
    /** Asks upstream, and resolves when it accepts the key: the client's or the gateway's. */
    requestKeyVerification(signal: AbortSignal): Promise<void>;
    create(webhook: NewWebhook): Promise<Webhook>;
    update(webhookId: string, changes: WebhookChanges): Promise<Webhook>;
    delete(webhookId: string): Promise<void>;
    updateAddresses(webhookId: string, changes: AddressChanges): Promise<void>;
    replaceAddresses(webhookId: string, addresses: readonly string[]): Promise<void>;
  };

type Parts = {
  readonly client: UpstreamClient;
  readonly scope: RequestScope;
  /** Callers in the same partition share their webhooks. */
  readonly cachePartition: string;
  /** Shared by all operations, so that changes of one webhook reach upstream in the order of their arrival. */
  readonly keyedQueue: KeyedQueue;
  /** Shared by all operations. */
  readonly verifiedKeys: VerifiedKeys;
  /** Shared by all operations. They report their changes and reads of addresses to it. */
  readonly subscribed: SubscribedAddresses;
  /** Shared by all operations. They report their changes to it. Null if nothing is known about deliveries. */
  readonly delivered: Pick<DeliveredAddresses, 'created' | 'changing' | 'changed' | 'forget'> | null;
};

/** Creates the session of one operation. */
export const createWebhookSession = (parts: Parts): WebhookSession => {
  const { client, scope, cachePartition, keyedQueue, verifiedKeys, subscribed, delivered } = parts;
  const { credential, deadline } = scope;
  const upstream = createWebhookClient({ client, scope });
  const knownOf = (webhookId: string) => subscribed.of({ cachePartition, webhookId });
  const { load, list, addresses, prime, invalidate } = createWebhookLoader({
    ...upstream,
    async listAddresses(webhookId, offset) {
      const record = knownOf(webhookId).beginRead();
      const page = await upstream.listAddresses(webhookId, offset);
      if (offset === null && page.nextOffset === null) record(soleAddressIn(valuesOf(page.items)));
      return page;
    },
  });

  const change = <Answer>(webhookId: string, send: () => Promise<Answer>): Promise<Answer> => {
    // The deadline runs while the change waits in the queue. A change whose deadline passes there is not sent.
    deadline.start();
    delivered?.changing(webhookId);
    // Even after a failure: upstream may have applied the change.
    return keyedQueue(`${cachePartition}/${webhookId}`, send).finally(() => invalidate(webhookId));
  };

  const forgetting = <Answer>(webhookId: string, send: () => Promise<Answer>): Promise<Answer> =>
    change(webhookId, send).finally(() => delivered?.forget(webhookId));

  let listsAddresses = true;

  return {
    load,
    list,
    addresses,
    async soleAddress({ webhookId, updatedAt }, freshness) {
      if (!listsAddresses) return undefined;
      const read = () => upstream.soleAddress(webhookId, true);
      try {
        const key = { cachePartition, webhookId };
        return await subscribed.soleAddress(key, freshness === 'known' ? updatedAt : null, read);
      } catch (error) {
        if (error instanceof UnsupportedOperationError) listsAddresses = false;
        else if (isRejected(error)) return null;
        else throw error;
        return undefined;
      }
    },
    async verifyKey() {
      if (credential.owner === 'client')
        await verifiedKeys.verify(cachePartition, deadline, upstream.verifyKey);
    },
    requestKeyVerification: upstream.verifyKey,
    sendTestEvent: upstream.sendTestEvent,
    attempts: upstream.attempts,
    resendDeliveries: upstream.resendDeliveries,
    listAll: upstream.listAll,
    async create(creation) {
      const webhook = await upstream.create(creation);
      prime(webhook);
      delivered?.created(webhook, creation.addresses);
      knownOf(webhook.webhookId).prime(soleAddress(creation.addresses));
      return webhook;
    },
    async update(webhookId, changes) {
      const webhook = await change(webhookId, () => upstream.update(webhookId, changes)).catch(
        (error: unknown) => {
          delivered?.forget(webhookId);
          throw error;
        },
      );
      prime(webhook);
      delivered?.changed(webhook);
      return webhook;
    },
    delete: (webhookId) => forgetting(webhookId, () => upstream.delete(webhookId)),
    updateAddresses: (webhookId, changes) =>
      forgetting(webhookId, () =>
        knownOf(webhookId).change(undefined, () => upstream.updateAddresses(webhookId, changes)),
      ),
    replaceAddresses: (webhookId, replacement) =>
      forgetting(webhookId, () =>
        knownOf(webhookId).change(soleAddress(replacement), () =>
          upstream.replaceAddresses(webhookId, replacement),
        ),
      ),
  };
};

/** The reads of upstream, one request for each call. */
type Source = {
  get(webhookId: string): Promise<Webhook | null>;
  list(offset: string | null): Promise<Page<Webhook>>;
  listAddresses(webhookId: string, offset: string | null): Promise<Page<Subscribed>>;
};

/** The webhooks that one operation reads: each webhook and each page is read once, and nothing outlives the operation. */
type WebhookLoader = {
  /** Null when there is no such webhook. */
  load(webhookId: string): Promise<Webhook | null>;
  readonly list: ReadPage<Webhook>;
  addresses(webhookId: string): ReadPage<Subscribed>;
  /** Records a webhook as upstream answered it: later loads resolve with it, and lists are read again. */
  prime(webhook: Webhook): void;
  /** Forgets everything that was read about a webhook that has changed, or may have. */
  invalidate(webhookId: string): void;
};

const createWebhookLoader = (source: Source): WebhookLoader => {
  const known = new Map<string, Webhook>();
  const reading = new Set<Promise<unknown>>();

  // Each load is a request of its own: the batch resolves with promises, so that no load waits for another.
  const webhooks = new DataLoader(async (ids: readonly string[]) => {
    // A list that is being read may contain the webhook, which then needs no request of its own.
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

/** Calls `read` immediately, once for each key. */
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

/** A cache of the keys that upstream has accepted, so that not every use of a key is a request. */
export type VerifiedKeys = {
  /**
   * Resolves at once if `request` has resolved for this key within the last hour, otherwise when `request` does. Concurrent
   * callers of one key share one request (single-flight). Rejects as `request` does, which is not cached, or with
   * UpstreamError `timeout` when the deadline ends. `keyId` identifies the key and is not the key itself. The signal aborts
   * when no caller waits any longer.
   */
  verify(keyId: string, deadline: Deadline, request: (signal: AbortSignal) => Promise<void>): Promise<void>;
};

/** The keys that other gateways have verified. Its methods never reject. */
export type SharedKeys = {
  /** Resolves with the milliseconds for which the key still counts as verified; 0 if it does not. */
  verifiedForMs(keyId: string): Promise<number>;
  /** Makes the key count as verified for this time, in milliseconds. */
  add(keyId: string, ms: number): Promise<void>;
};

const VERIFIED_MS = 3_600_000;

/** The cache evicts the least recently used key above this number. Upstream is then asked about it again. */
const MAX_KEYS = 10_000;

export const createVerifiedKeys = (
  now: () => number = () => performance.now(),
  shared: SharedKeys | null = null,
): VerifiedKeys => {
  const verifiedAt = new LRUCache<string, number>(atMostEntries(MAX_KEYS));
  const inFlight = new Map<string, SharedRequest<void>>();

  const isVerified = (keyId: string): boolean => {
    const at = verifiedAt.get(keyId);
    return at !== undefined && now() - at < VERIFIED_MS;
  };

  const verifyAnywhere = async (keyId: string, request: () => Promise<void>): Promise<void> => {
    const leftMs = shared ? await shared.verifiedForMs(keyId) : 0;
    if (leftMs > 0) return void verifiedAt.set(keyId, now() - VERIFIED_MS + leftMs);
    await request();
    verifiedAt.set(keyId, now());
    await shared?.add(keyId, VERIFIED_MS);
  };

  const start = (keyId: string, request: (signal: AbortSignal) => Promise<void>): SharedRequest<void> => {
    const sharedRequest = startShared((signal) =>
      verifyAnywhere(keyId, () => request(signal)).finally(() => {
        if (inFlight.get(keyId) === sharedRequest) inFlight.delete(keyId);
      }),
    );
    inFlight.set(keyId, sharedRequest);
    return sharedRequest;
  };

  return {
    async verify(keyId, deadline, request) {
      if (isVerified(keyId)) return;
      const shared = inFlight.get(keyId);
      await (shared && !shared.isAbandoned ? shared : start(keyId, request)).join(deadline);
    },
  };
};
