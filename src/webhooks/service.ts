import type { Credential } from '../upstream/credential.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { Item } from '../upstream/items.ts';
import type { OperationClient } from '../upstream/operation-client.ts';
import type { Page } from '../upstream/pages.ts';
import { AbsentOperationError, isAbsent } from './absent.ts';
import * as requests from './requests.ts';
import {
  readAddressesPage,
  readWebhook,
  readWebhooksPage,
  type Subscribed,
  soleAddressIn,
  type Webhook,
} from './rest.ts';

/**
 * The service's operations on webhooks, one request each, with one key. Every method rejects with UpstreamError when
 * the service does not do as asked; with AbsentOperationError when this deployment can't.
 */
export type WebhookService = {
  /** Resolves when the service takes the key. The signal is for a question that others may come to wait for too. */
  proveKey(signal: AbortSignal): Promise<void>;
  list(offset: string | null): Promise<Page<Item<Webhook>>>;
  listAddresses(webhookId: string, offset: string | null): Promise<Page<Item<Subscribed>>>;
  /** The webhook's only address; null when it holds none or several. */
  soleAddress(webhookId: string): Promise<string | null>;
  /** Null when there is no such webhook. */
  get(webhookId: string): Promise<Webhook | null>;
  create(webhook: requests.NewWebhook): Promise<Webhook>;
  update(webhookId: string, changes: requests.WebhookChanges): Promise<Webhook>;
  delete(webhookId: string): Promise<void>;
  updateAddresses(webhookId: string, changes: requests.AddressChanges): Promise<void>;
  replaceAddresses(webhookId: string, addresses: readonly string[]): Promise<void>;
};

type Parts = { readonly client: OperationClient; readonly credential: Credential };

/** Management is not billed. */
const COST = 0;

/** Pages may be empty though more follow: after so many the list is taken for one of several. */
const MAX_SPARSE_PAGES = 3;

/** The id that no webhook has. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export const createWebhookService = ({ client, credential }: Parts): WebhookService => {
  const send = async (
    { method, path, query, body }: requests.Operation,
    signal?: AbortSignal,
  ): Promise<unknown> => {
    const shape = { method, path, ...(query && { query }), ...(body && { body }) };
    const answer = await client.request({ resource: 'webhooks', ...shape, credential, cost: COST }, signal);
    return answer.body;
  };

  /** Asks by the one harmless question that the contract has every deployment answer: a change of no addresses. */
  const exists = (webhookId: string): Promise<boolean> =>
    send(requests.updateAddresses(webhookId, {})).then(
      () => true,
      (error: unknown) => {
        if (error instanceof UpstreamError && error.failure === 'rejected') return false;
        throw error;
      },
    );

  const ask = async (operation: requests.Operation, signal?: AbortSignal): Promise<unknown> => {
    try {
      return await send(operation, signal);
    } catch (error) {
      if (error instanceof UpstreamError && (await isAbsent(operation, error, exists)))
        throw new AbsentOperationError(operation, error);
      throw error;
    }
  };

  /** Whoever looks for the webhook has taken the key; any other refusal may come before. */
  const missWebhook = (signal: AbortSignal): Promise<unknown> =>
    send(requests.updateAddresses(NOBODY, {}), signal).catch((error: unknown) => {
      if (!(error instanceof UpstreamError) || error.status !== 404) throw error;
    });

  return {
    async proveKey(signal) {
      try {
        await ask(requests.listWebhooks(null, 1), signal);
      } catch (error) {
        if (!(error instanceof AbsentOperationError)) throw error;
        await missWebhook(signal);
      }
    },
    async list(offset) {
      const fetchedAt = Date.now();
      return readWebhooksPage(await ask(requests.listWebhooks(offset)), fetchedAt);
    },
    async listAddresses(webhookId, offset) {
      const fetchedAt = Date.now();
      return readAddressesPage(await ask(requests.listAddresses(webhookId, offset)), fetchedAt);
    },
    async soleAddress(webhookId) {
      const found: Item<Subscribed>[] = [];
      let offset: string | null = null;
      for (let pages = 0; pages < MAX_SPARSE_PAGES && found.length < 2; pages += 1) {
        // Without asking whether the operation is absent, or the webhook: neither has an address to tell.
        const page = readAddressesPage(await send(requests.listAddresses(webhookId, offset, 2)), Date.now());
        found.push(...page.items);
        offset = page.nextOffset;
        if (offset === null) return soleAddressIn(found);
      }
      return null;
    },
    async get(webhookId) {
      try {
        return readWebhook(await ask(requests.getWebhook(webhookId)));
      } catch (error) {
        if (error instanceof AbsentOperationError) throw error;
        if (error instanceof UpstreamError && error.status === 404) return null;
        throw error;
      }
    },
    create: async (webhook) => readWebhook(await ask(requests.createWebhook(webhook))),
    update: async (webhookId, changes) => readWebhook(await ask(requests.updateWebhook(webhookId, changes))),
    async delete(webhookId) {
      await ask(requests.deleteWebhook(webhookId));
    },
    async updateAddresses(webhookId, changes) {
      await ask(requests.updateAddresses(webhookId, changes));
    },
    async replaceAddresses(webhookId, addresses) {
      await ask(requests.replaceAddresses(webhookId, addresses));
    },
  };
};
