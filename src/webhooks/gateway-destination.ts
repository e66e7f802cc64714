import { UpstreamError } from '../upstream/client/errors.ts';
import type { NewWebhook } from './requests.ts';
import type { Webhook } from './rest.ts';
import type { WebhookSession } from './session.ts';

/** This gateway as a destination: its delivery url for a webhook, or for any when the id is null. */
type GatewayDestination = { url(webhookId: string | null): string };

/** Whether the webhook's url is this gateway's, for the same tenant; one that names another webhook does not count. */
export const deliversHere = (
  { webhookId, url }: Pick<Webhook, 'webhookId' | 'url'>,
  destination: GatewayDestination,
): boolean =>
  url !== null &&
  URL.canParse(url) &&
  [destination.url(webhookId), destination.url(null)].includes(new URL(url).href);

/** Points a webhook's url at this gateway. */
export const connectToGateway = (
  webhooks: WebhookSession,
  webhookId: string,
  destination: GatewayDestination,
): Promise<Webhook> => webhooks.update(webhookId, { url: destination.url(webhookId) });

/**
 * Creates a webhook that delivers to this gateway. Its id is known only then, so a second request makes the url name
 * it, for a service whose headers do not. Where that fails, its events arrive all the same.
 */
export const createForGateway = async (
  webhooks: WebhookSession,
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
