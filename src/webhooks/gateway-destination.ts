import { UpstreamError } from '../upstream/client/errors.ts';
import type { NewWebhook, Webhook } from './rest.ts';
import type { WebhookSession } from './session.ts';

/**
 * This gateway as a destination. `url` is its delivery URL for one webhook, or for any webhook when the id is null. `urls` are
 * all that it accepts, also those that are being replaced.
 */
export type GatewayDestination = {
  url(webhookId: string | null): string;
  urls(webhookId: string | null): readonly string[];
};

/** Whether the webhook's url is a delivery URL of this gateway and the same tenant. A URL that names another webhook is not. */
export const deliversHere = (
  { webhookId, url }: Pick<Webhook, 'webhookId' | 'url'>,
  destination: GatewayDestination,
): boolean =>
  url !== null &&
  URL.canParse(url) &&
  [...destination.urls(webhookId), ...destination.urls(null)].includes(new URL(url).href);

/** Whether the webhook's url is a delivery URL of this gateway and the same tenant, whichever webhook it names. */
export const belongsHere = ({ url }: Pick<Webhook, 'url'>, destination: GatewayDestination): boolean => {
  if (url === null || !URL.canParse(url)) return false;
  const { origin, pathname } = new URL(url);
  return destination.urls(null).includes(`${origin}${pathname}`);
};

/** Points a webhook's url at this gateway. Rejects with UpstreamError. */
export const connectToGateway = (
  webhooks: Pick<WebhookSession, 'update'>,
  webhookId: string,
  destination: GatewayDestination,
): Promise<Webhook> => webhooks.update(webhookId, { url: destination.url(webhookId) });

/**
 * Creates a webhook that delivers to this gateway. Only the answer has the webhook's id, so a second request puts the id
 * into the url, for deployments whose headers do not name the webhook. If that request fails, the events arrive all the
 * same. Rejects with UpstreamError when the webhook could not be created.
 */
export const createForGateway = async (
  webhooks: Pick<WebhookSession, 'create' | 'update'>,
  creation: Omit<NewWebhook, 'url'>,
  destination: GatewayDestination,
): Promise<Webhook> => {
  const webhook = await webhooks.create({ ...creation, url: destination.url(null) });
  try {
    return await connectToGateway(webhooks, webhook.webhookId, destination);
  } catch (error) {
    if (error instanceof UpstreamError) return webhook;
    throw error;
  }
};
