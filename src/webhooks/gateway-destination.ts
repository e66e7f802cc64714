import { UpstreamError } from '../upstream/client/errors.ts';
import type { NewWebhook } from './requests.ts';
import type { Webhook } from './rest.ts';
import type { Webhooks } from './session.ts';

/** This gateway as a destination: its delivery url for a webhook, or for any when the id is null. */
type Here = { url(webhookId: string | null): string };

/** Whether the webhook's url is this gateway's, for the same tenant; one that names another webhook does not count. */
export const deliversHere = ({ webhookId, url }: Pick<Webhook, 'webhookId' | 'url'>, here: Here): boolean =>
  url !== null && URL.canParse(url) && [here.url(webhookId), here.url(null)].includes(new URL(url).href);

/** Points a webhook's url at this gateway. */
export const connectHere = (webhooks: Webhooks, webhookId: string, here: Here): Promise<Webhook> =>
  webhooks.update(webhookId, { url: here.url(webhookId) });

/**
 * Creates a webhook that delivers to this gateway. Its id is known only then, so a second request makes the url name
 * it, for a service whose headers do not. Where that fails, its events arrive all the same.
 */
export const createHere = async (
  webhooks: Webhooks,
  creation: Omit<NewWebhook, 'url'>,
  here: Here,
): Promise<Webhook> => {
  const webhook = await webhooks.create({ ...creation, url: here.url(null) });
  try {
    return await connectHere(webhooks, webhook.webhookId, here);
  } catch (error) {
    if (error instanceof UpstreamError) return webhook;
    throw error;
  }
};
