import type { Page } from '../upstream/cache/page-cache.ts';
import type { UpstreamClient } from '../upstream/client/client.ts';
import { UpstreamError } from '../upstream/client/errors.ts';
import { detachedScope, type RequestScope } from '../upstream/client/request-scope.ts';
import type { PageItem } from '../upstream/parse/page-parser.ts';
import * as requests from './requests.ts';
import {
  readAddressesPage,
  readWebhook,
  readWebhooksPage,
  type Subscribed,
  soleAddressIn,
  type Webhook,
} from './rest.ts';
import { isUnsupported, UnsupportedOperationError } from './unsupported-operation.ts';

/**
 * The service's operations on webhooks, one request each, with one key. Every method rejects with UpstreamError when
 * the service does not do as asked; with UnsupportedOperationError when this deployment can't.
 */
export type WebhookClient = {
  /** Resolves when the service takes the key. The signal is for a question that others may come to wait for too. */
  verifyKey(signal: AbortSignal): Promise<void>;
  list(offset: string | null): Promise<Page<PageItem<Webhook>>>;
  listAddresses(webhookId: string, offset: string | null): Promise<Page<PageItem<Subscribed>>>;
  /** The webhook's only address; null when it holds none or several. */
  soleAddress(webhookId: string): Promise<string | null>;
  /** Null when there is no such webhook. */
  get(webhookId: string): Promise<Webhook | null>;
  create(webhook: requests.NewWebhook): Promise<Webhook>;
  /** The webhook in the service's answer. After a 2xx answer without one, it is read by `get`. */
  update(webhookId: string, changes: requests.WebhookChanges): Promise<Webhook>;
  delete(webhookId: string): Promise<void>;
  updateAddresses(webhookId: string, changes: requests.AddressChanges): Promise<void>;
  replaceAddresses(webhookId: string, addresses: readonly string[]): Promise<void>;
};

type Parts = { readonly client: UpstreamClient; readonly scope: RequestScope };

/** Management is not billed. */
const COST = 0;

/** Pages may be empty though more follow. After so many, the list counts as one of several addresses. */
const MAX_SPARSE_PAGES = 3;

/** The id that no webhook has. */
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export const createWebhookClient = ({ client, scope }: Parts): WebhookClient => {
  const send = async (
    { method, path, query, body, ignoresBody }: requests.Operation,
    signal?: AbortSignal,
  ): Promise<unknown> => {
    const shape = {
      method,
      path,
      ...(query && { query }),
      ...(body && { body }),
      ...(ignoresBody && { ignoresBody }),
    };
    const shared = signal ? detachedScope(scope, signal) : scope;
    return (await client.request({ resource: 'webhooks', ...shape, cost: COST }, shared)).body;
  };

  /** Asks by the one harmless question that the contract has every deployment answer: a change of no addresses. */
  const webhookExists = (webhookId: string): Promise<boolean> =>
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
      if (error instanceof UpstreamError && (await isUnsupported(operation, error, webhookExists)))
        throw new UnsupportedOperationError(operation, error);
      throw error;
    }
  };

  /** Whoever looks for the webhook has taken the key; any other refusal may come before. */
  const probeUnknownWebhook = (signal: AbortSignal): Promise<unknown> =>
    send(requests.updateAddresses(NIL_UUID, {}), signal).catch((error: unknown) => {
      if (!(error instanceof UpstreamError) || error.status !== 404) throw error;
    });

  /** Null when there is no such webhook. */
  const get = async (webhookId: string): Promise<Webhook | null> => {
    try {
      return readWebhook(await ask(requests.getWebhook(webhookId)));
    } catch (error) {
      if (error instanceof UnsupportedOperationError) throw error;
      if (error instanceof UpstreamError && error.status === 404) return null;
      throw error;
    }
  };

  return {
    get,
    async verifyKey(signal) {
      try {
        await ask(requests.listWebhooks(null, 1), signal);
      } catch (error) {
        if (!(error instanceof UnsupportedOperationError)) throw error;
        await probeUnknownWebhook(signal);
      }
    },
    async list(offset) {
      const fetchedAt = Date.now();
      return await readWebhooksPage(await ask(requests.listWebhooks(offset)), requests.PAGE_SIZE, fetchedAt);
    },
    async listAddresses(webhookId, offset) {
      const fetchedAt = Date.now();
      const body = await ask(requests.listAddresses(webhookId, offset));
      return await readAddressesPage(body, requests.PAGE_SIZE, fetchedAt);
    },
    async soleAddress(webhookId) {
      const found: PageItem<Subscribed>[] = [];
      let offset: string | null = null;
      for (let pages = 0; pages < MAX_SPARSE_PAGES && found.length < 2; pages += 1) {
        // `ask` would find out whether the operation or the webhook is missing: there is no address in either case.
        const body = await send(requests.listAddresses(webhookId, offset, 2));
        // A page of more than two is accepted: then there are several.
        const page = await readAddressesPage(body, requests.PAGE_SIZE, Date.now());
        found.push(...page.items);
        offset = page.nextOffset;
        if (offset === null) return soleAddressIn(found);
      }
      return null;
    },
    async create(webhook) {
      try {
        return readWebhook(await ask(requests.createWebhook(webhook)));
      } catch (error) {
        throw isAppliedButUnread(error)
          ? unread(
              'The service has created the webhook, but does not show it: look for it in webhooks.',
              error,
            )
          : error;
      }
    },
    async update(webhookId, changes) {
      try {
        return readWebhook(await ask(requests.updateWebhook(webhookId, changes)));
      } catch (error) {
        if (!isAppliedButUnread(error)) throw error;
        const webhook = await get(webhookId).catch(() => null);
        if (webhook === null)
          throw unread('The service has changed the webhook, but does not show it.', error);
        return webhook;
      }
    },
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

/** The service answered 2xx, but its body is not the contract's. */
const isAppliedButUnread = (error: unknown): error is UpstreamError =>
  error instanceof UpstreamError && error.failure === 'invalidResponse' && error.status === undefined;

const unread = (serviceMessage: string, cause: UpstreamError): UpstreamError =>
  new UpstreamError('invalidResponse', `${serviceMessage} ${cause.message}`, { cause });
