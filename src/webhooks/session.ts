import type { KeyedQueue } from '../lib/keyed-queue.ts';
import type { UpstreamClient } from '../upstream/client/client.ts';
import type { RequestScope } from '../upstream/client/request-scope.ts';
import { createWebhookClient } from './client.ts';
import { createWebhookLoader, type WebhookLoader } from './loader.ts';
import type { AddressChanges, NewWebhook, WebhookChanges } from './requests.ts';
import { soleAddress, soleAddressIn, type Webhook } from './rest.ts';
import type { SubscribedAddresses } from './subscribed-addresses.ts';
import type { VerifiedKeys } from './verified-keys.ts';

/**
 * The webhooks of one key. What a change was answered is what a later `load` of the same operation gives. Every method
 * rejects with UpstreamError when the service does not do as asked.
 */
export type WebhookSession = Pick<WebhookLoader, 'load' | 'list' | 'addresses'> & {
  /** Resolves when the service takes a client's own key, or has within the last hour; of the gateway's nothing is asked. */
  verifyKey(): Promise<void>;
  /** Resolves when the service takes the key, the client's or the gateway's. */
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
  /** Callers of the same one share their webhooks. */
  readonly cachePartition: string;
  /** Shared by all operations, so that changes which came in one order arrive in it. */
  readonly keyedQueue: KeyedQueue;
  /** Shared by all operations. */
  readonly verifiedKeys: VerifiedKeys;
  /** Shared by all operations, which report their changes and reads of addresses to it. */
  readonly subscribed: SubscribedAddresses;
};

/** Born with an operation. */
export const createWebhookSession = (parts: Parts): WebhookSession => {
  const { client, scope, cachePartition, keyedQueue, verifiedKeys, subscribed } = parts;
  const { credential, deadline } = scope;
  const service = createWebhookClient({ client, scope });
  const knownOf = (webhookId: string) => subscribed.of({ cachePartition, webhookId });
  const { load, list, addresses, prime, invalidate } = createWebhookLoader({
    ...service,
    async listAddresses(webhookId, offset) {
      const know = knownOf(webhookId).reading();
      const page = await service.listAddresses(webhookId, offset);
      if (offset === null && page.nextOffset === null) know(soleAddressIn(page.items));
      return page;
    },
  });

  const change = <Answer>(webhookId: string, send: () => Promise<Answer>): Promise<Answer> => {
    // Behind a silent service the turn may come too late: the change is then not sent.
    deadline.start();
    // Whatever comes of it: after a failure nobody knows what the service has done.
    return keyedQueue(`${cachePartition}/${webhookId}`, send).finally(() => invalidate(webhookId));
  };

  return {
    load,
    list,
    addresses,
    async verifyKey() {
      if (credential.owner === 'client')
        await verifiedKeys.verify(cachePartition, deadline, service.verifyKey);
    },
    requestKeyVerification: service.verifyKey,
    async create(creation) {
      const webhook = await service.create(creation);
      prime(webhook);
      knownOf(webhook.webhookId).prime(soleAddress(creation.addresses));
      return webhook;
    },
    async update(webhookId, changes) {
      const webhook = await change(webhookId, () => service.update(webhookId, changes));
      prime(webhook);
      return webhook;
    },
    delete: (webhookId) => change(webhookId, () => service.delete(webhookId)),
    updateAddresses: (webhookId, changes) =>
      change(webhookId, () =>
        knownOf(webhookId).change(undefined, () => service.updateAddresses(webhookId, changes)),
      ),
    replaceAddresses: (webhookId, replacement) =>
      change(webhookId, () =>
        knownOf(webhookId).change(soleAddress(replacement), () =>
          service.replaceAddresses(webhookId, replacement),
        ),
      ),
  };
};
