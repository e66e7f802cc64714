import { randomUUID } from 'node:crypto';
import { type Clock, createDeadline } from '../lib/deadlines.ts';
import type { UpstreamClient } from '../upstream/client/client.ts';
import { UpstreamError } from '../upstream/client/errors.ts';
import { type Credential, detachedScope, type RequestScope, Usage } from '../upstream/client/request.ts';
import { type Page, valuesOf } from '../upstream/page.ts';
import { MalformedFieldError } from '../upstream/parse/fields.ts';
import { type DeliveryAttempt, readAttempts, readResent } from './attempts.ts';
import { soleAddressIn } from './known-address.ts';
import * as rest from './rest.ts';
import {
  detectUnsupported,
  isRejected,
  type Send,
  UnsupportedOperationError,
} from './unsupported-operation.ts';

/**
 * Upstream's operations on webhooks with one key, one request each. Every method rejects with UpstreamError if upstream does
 * not perform the operation, and with UnsupportedOperationError if this deployment lacks it.
 */
export type WebhookClient = {
  /** Resolves when upstream accepts the key. The signal ends a verification that several callers may share. */
  verifyKey(signal: AbortSignal): Promise<void>;
  list(offset: string | null): Promise<Page<rest.Webhook>>;
  /** The whole list, without what can't be parsed. Rejects with UpstreamError for more than 100 pages. */
  listAll(): Promise<readonly rest.Webhook[]>;
  listAddresses(webhookId: string, offset: string | null): Promise<Page<rest.Subscribed>>;
  /** A webhook's whole list of addresses, without what can't be parsed. Rejects as `listAll` does. */
  listAllAddresses(webhookId: string): Promise<readonly string[]>;
  /**
   * The webhook's only address; null when its list has none or several. Without `probes`, a deployment that can't list
   * addresses rejects like one that does not know the webhook.
   */
  soleAddress(webhookId: string, probes?: boolean): Promise<string | null>;
  /** Null when there is no such webhook. */
  get(webhookId: string): Promise<rest.Webhook | null>;
  /** Rejects with UnseenWebhookError after a 2xx answer without the webhook. */
  create(webhook: rest.NewWebhook): Promise<rest.Webhook>;
  /**
   * The webhook in upstream's answer. If a 2xx answer has none, `get` reads it. Rejects with UnseenWebhookError if that
   * fails.
   */
  update(webhookId: string, changes: rest.WebhookChanges): Promise<rest.Webhook>;
  delete(webhookId: string): Promise<void>;
  /** Resolves when upstream has accepted to send it: it may arrive later, or never. */
  sendTestEvent(webhookId: string): Promise<void>;
  attempts(webhookId: string): Promise<readonly DeliveryAttempt[]>;
  /** Resolves with how many deliveries are sent again. */
  resendDeliveries(webhookId: string, deliveryIds: readonly string[] | null): Promise<number>;
  updateAddresses(webhookId: string, changes: rest.AddressChanges): Promise<void>;
  replaceAddresses(webhookId: string, addresses: readonly string[]): Promise<void>;
};

/** Upstream has made the change, but none of its answers shows the webhook. */
export class UnseenWebhookError extends UpstreamError {
  constructor(message: string, cause: UpstreamError) {
    super('invalidResponse', `${message} ${cause.message}`, { cause });
    this.name = 'UnseenWebhookError';
  }
}

type Parts = { readonly client: UpstreamClient; readonly scope: RequestScope };

/** Upstream does not bill the management of webhooks. */
const COST = 0;

/** The number of pages after which a list counts as one of several addresses: pages may be empty though more follow. */
const MAX_SPARSE_PAGES = 3;

/** An offset that leads nowhere must not be followed forever. */
const MAX_PAGES = 100;

/** The id that no webhook has. */
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export const createWebhookClient = ({ client, scope }: Parts): WebhookClient => {
  const send: Send = async (operation, signal) => {
    const request = { resource: 'webhooks', ...operation, cost: COST };
    return (await client.request(request, signal ? detachedScope(scope, signal) : scope)).body;
  };
  const sendDetecting = detectUnsupported(send);

  const get = async (webhookId: string): Promise<rest.Webhook | null> => {
    try {
      return rest.readWebhook(await sendDetecting(rest.getWebhook(webhookId)));
    } catch (error) {
      if (error instanceof UnsupportedOperationError) throw error;
      if (isRejected(error) && error.status === 404) return null;
      throw error;
    }
  };

  const list = async (offset: string | null): Promise<Page<rest.Webhook>> => {
    const fetchedAt = Date.now();
    return await rest.readWebhooksPage(await sendDetecting(rest.listWebhooks(offset)), fetchedAt);
  };

  const listAddresses = async (webhookId: string, offset: string | null): Promise<Page<rest.Subscribed>> => {
    const fetchedAt = Date.now();
    const body = await sendDetecting(rest.listAddresses(webhookId, offset));
    return await rest.readAddressesPage(body, fetchedAt);
  };

  return {
    get,
    list,
    listAll: () => readAll(list),
    listAddresses,
    async listAllAddresses(webhookId) {
      const all = await readAll((offset) => listAddresses(webhookId, offset));
      return all.map(({ address }) => address);
    },
    async verifyKey(signal) {
      try {
        await send(rest.listWebhooks(null, 1), signal);
      } catch (error) {
        if (!isRejected(error)) throw error;
        await verifyByUnknownWebhook(send, signal);
      }
    },
    async soleAddress(webhookId, probes = false) {
      const sendRead = probes ? sendDetecting : send;
      const found: (rest.Subscribed | MalformedFieldError)[] = [];
      let offset: string | null = null;
      for (let pages = 0; pages < MAX_SPARSE_PAGES && found.length < 2; pages += 1) {
        const body = await sendRead(rest.listAddresses(webhookId, offset, 2));
        const page = await rest.readAddressesPage(body, Date.now());
        found.push(...valuesOf(page.items));
        offset = page.nextOffset;
        if (offset === null) return soleAddressIn(found);
      }
      return null;
    },
    async create(webhook) {
      try {
        return rest.readWebhook(await sendDetecting(rest.createWebhook(webhook)));
      } catch (error) {
        throw isAppliedButUnread(error)
          ? new UnseenWebhookError(
              'The service created the webhook, but its answer does not show it: look for it in webhooks.',
              error,
            )
          : error;
      }
    },
    async update(webhookId, changes) {
      try {
        return rest.readWebhook(await sendDetecting(rest.updateWebhook(webhookId, changes)));
      } catch (error) {
        if (!isAppliedButUnread(error)) throw error;
        const webhook = await get(webhookId).catch(() => null);
        if (webhook === null)
          throw new UnseenWebhookError(
            'The service changed the webhook, but its answer does not show it.',
            error,
          );
        return webhook;
      }
    },
    async delete(webhookId) {
      await sendDetecting(rest.deleteWebhook(webhookId));
    },
    async sendTestEvent(webhookId) {
      await sendDetecting(rest.sendTestEvent(webhookId));
    },
    async attempts(webhookId) {
      return readAttempts(await sendDetecting(rest.listAttempts(webhookId)));
    },
    async resendDeliveries(webhookId, deliveryIds) {
      return readResent(await sendDetecting(rest.resendDeliveries(webhookId, deliveryIds)));
    },
    async updateAddresses(webhookId, changes) {
      await sendDetecting(rest.updateAddresses(webhookId, changes));
    },
    async replaceAddresses(webhookId, addresses) {
      await sendDetecting(rest.replaceAddresses(webhookId, addresses));
    },
  };
};

/**
 * Verifies a key on a deployment that does not list webhooks. The contract guarantees updates of addresses, and for a
 * webhook that does not exist such an update changes nothing. Only a 404 proves the key, because upstream has looked for the
 * webhook by then. A 400 or 422 may come before upstream looks at the key.
 */
const verifyByUnknownWebhook = async (send: Send, signal: AbortSignal): Promise<void> => {
  const operation = { ...rest.updateAddresses(NIL_UUID, {}), purpose: 'verify an API key' };
  try {
    await send(operation, signal);
  } catch (error) {
    if (!isRejected(error)) throw error;
    if (error.status !== 404) throw new UnsupportedOperationError(operation, error);
  }
};

/** Whether upstream answered 2xx with a body that breaks the contract. */
const isAppliedButUnread = (error: unknown): error is UpstreamError =>
  error instanceof UpstreamError && error.failure === 'invalidResponse' && error.status === undefined;

const readAll = async <Value>(
  list: (offset: string | null) => Promise<Page<Value>>,
): Promise<readonly Value[]> => {
  const all: Value[] = [];
  let offset: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { items, nextOffset }: Page<Value> = await list(offset);
    for (const value of valuesOf(items)) if (!(value instanceof MalformedFieldError)) all.push(value);
    if (nextOffset === null) return all;
    offset = nextOffset;
  }
  throw new UpstreamError('invalidResponse', `Expected at most ${MAX_PAGES} pages of a list, got more.`);
};

/** The scope of free requests that the gateway makes for itself, outside of any operation. */
export const createBackgroundScope = (
  credential: Credential,
  timeoutMs: number,
  now: Clock,
): RequestScope => ({
  credential,
  deadline: createDeadline(timeoutMs, () => null, now),
  usage: new Usage(),
  maxComputeUnits: 0,
  trace: { requestId: randomUUID(), traceparent: null },
});
