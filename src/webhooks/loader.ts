import DataLoader from 'dataloader';
import type { Credential } from '../upstream/credential.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { OperationClient } from '../upstream/operation-client.ts';
import {
  type AddressChanges,
  getWebhook,
  patchAddresses,
  patchWebhook,
  readWebhook,
  type Webhook,
  type WebhookChanges,
} from './rest.ts';

/** The webhooks of one key. What an update answers is what a later `load` of the same operation gives. */
export type Webhooks = {
  /** Null when there is no such webhook. */
  load(webhookId: string): Promise<Webhook | null>;
  update(webhookId: string, changes: WebhookChanges): Promise<Webhook>;
  updateAddresses(webhookId: string, changes: AddressChanges): Promise<void>;
};

type Parts = { readonly client: OperationClient; readonly credential: Credential };

/** Born with an operation; every method rejects with UpstreamError when the service does not do as asked. */
export const createWebhooks = ({ client, credential }: Parts): Webhooks => {
  const fetchOne = async (webhookId: string): Promise<Webhook | null> => {
    try {
      return readWebhook((await client.request(getWebhook(webhookId, credential))).body);
    } catch (error) {
      if (error instanceof UpstreamError && error.status === 404) return null;
      throw error;
    }
  };
  // Each is a request of its own: the batch hands out promises, so that none waits for another.
  const loader = new DataLoader(async (ids: readonly string[]) =>
    ids.map((id) => ({ webhook: fetchOne(id) })),
  );

  return {
    load: async (webhookId) => (await loader.load(webhookId)).webhook,
    async update(webhookId, changes) {
      const { body } = await client.request(patchWebhook(webhookId, changes, credential));
      const webhook = readWebhook(body);
      loader.clear(webhookId).prime(webhookId, { webhook: Promise.resolve(webhook) });
      return webhook;
    },
    async updateAddresses(webhookId, changes) {
      await client.request(patchAddresses(webhookId, changes, credential));
      loader.clear(webhookId);
    },
  };
};
