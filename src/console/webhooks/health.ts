import { counted, formatCount } from '../format.ts';
import { settings } from '../settings.ts';
import { causeOf, hostOf, triedOf, type Webhook } from './webhook-words.ts';

/** Whether a webhook's events arrive, as far as the gateway knows. */
export type Health = {
  readonly state: keyof typeof STATES;
  /** What is known about it, and what to do: whole sentences. Empty when there is nothing to do. */
  readonly reasons: readonly string[];
};

export const STATES = {
  delivering: { word: 'delivering', tone: 'good' },
  failing: { word: 'failing', tone: 'bad' },
  partly: { word: 'incomplete', tone: 'warn' },
  paused: { word: 'paused', tone: 'warn' },
  waiting: { word: 'nothing yet', tone: '' },
  elsewhere: { word: 'delivers elsewhere', tone: '' },
} as const;

/** What mends a delivery that was refused with this status. */
const ADVICE: Readonly<Record<number, string>> = {
  400: 'Something between the service and the gateway may be changing the body, or cutting it.',
  401: 'DELIVERY_SIGNATURE_SECRET of the gateway must be the secret that the service signs with.',
  408: 'The body came too slowly: look at the network between the service and the gateway.',
  413: 'Choose fewer addresses or more filters, so that each delivery is smaller.',
  415: 'Something between the service and the gateway may be compressing the body.',
  503: 'The gateway could not store it: /health/ready and its log say why. The service sends it again.',
};

export type Refused = NonNullable<Webhook['refusedDeliveries']>[number];

/** `401, expected a valid signature`. */
export const refusalOf = ({ status, reason }: Refused): string => `${status}, ${reason}`;

/** When the newest delivery that is stored arrived; null when there is none, and when that is not known. */
export const lastArrival = ({ deliveries }: Webhook): string | null =>
  deliveries?.nodes[0]?.receivedAt ?? null;

/** Those that were refused after the last one that arrived, the newest first. */
const refusedSince = (webhook: Webhook): readonly Refused[] => {
  const arrived = Date.parse(lastArrival(webhook) ?? '') || 0;
  return (webhook.refusedDeliveries ?? []).filter(({ refusedAt }) => Date.parse(refusedAt) > arrived);
};

const failing = (...reasons: readonly string[]): Health => ({ state: 'failing', reasons });

/** `ownUrl` is the delivery URL of this gateway; null if the caller may not see it. */
export const healthOf = (webhook: Webhook, ownUrl: string | null): Health => {
  const { active, url, chainIds, deliversHere, addresses } = webhook;
  if (!active)
    return { state: 'paused', reasons: ['The service sends nothing until the webhook is resumed.'] };
  if (url === null) return failing('It has no URL, so nothing can be delivered: point it here, or edit it.');
  if (chainIds?.length === 0)
    return failing('Its list of chains is empty, so nothing is delivered: edit it to choose chains.');
  if (addresses?.nodes.length === 0)
    return failing('It has no addresses, so nothing is delivered: add some.');
  return deliversHere ? healthHere(webhook) : (healthTold(webhook) ?? healthElsewhere(webhook, url, ownUrl));
};

const healthHere = (webhook: Webhook): Health => {
  const [newest, ...older] = refusedSince(webhook);
  const last = webhook.deliveries?.nodes[0];
  if (newest !== undefined) {
    const count = older.length + 1;
    const refused =
      count === 1
        ? 'The last delivery was refused'
        : `The last ${formatCount(count)} deliveries were refused`;
    return failing(`${refused}: ${refusalOf(newest)}.`, ADVICE[newest.status] ?? '');
  }
  if (webhook.deliveries === null) return { state: 'waiting', reasons: ['Its deliveries can’t be read.'] };
  if (!last) return { state: 'waiting', reasons: [whyNothing(webhook.url ?? '')] };
  if ((last.attempt ?? 0) === 0) return { state: 'delivering', reasons: [] };
  const attempts = counted(last.attempt ?? 0, 'failed attempt', 'failed attempts');
  return { state: 'delivering', reasons: [`The last delivery arrived after ${attempts}.`] };
};

/** What the service tells of one that delivers elsewhere; null where it tells of no attempt. */
const healthTold = (webhook: Webhook): Health | null => {
  const [last] = webhook.attempts ?? [];
  if (last === undefined) return null;
  if (!last.accepted) return failing(`The last attempt failed: ${causeOf(webhook, last)}.`);
  const failed = triedOf(webhook).filter((tried) => !tried.last.accepted).length;
  if (failed === 0) return { state: 'delivering', reasons: [] };
  const others = counted(failed, 'delivery', 'deliveries');
  return {
    state: 'partly',
    reasons: [
      `The last attempt was accepted, but ${others} before it failed: ${failed === 1 ? 'it' : 'they'} can be sent again.`,
    ],
  };
};

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const whyNothing = (url: string): string => {
  const hostname = URL.parse(url)?.hostname ?? '';
  if (!settings.isServiceLocal && LOOPBACK.test(hostname))
    return `A service elsewhere can’t reach ${hostname}: set PUBLIC_URL to an address that it reaches, then point the webhook here again.`;
  return `Either its addresses had no event yet, or the service does not reach ${hostOf(url)}. Send a test event to find out.`;
};

const healthElsewhere = ({ attempts }: Webhook, url: string, ownUrl: string | null): Health => {
  const [theirs, own] = [URL.parse(url), URL.parse(ownUrl ?? '')];
  const elsewhere: Health = {
    state: 'elsewhere',
    reasons: [
      `Its events go to ${hostOf(url)}, not here.`,
      attempts === null ? 'The service does not say whether they arrive.' : '',
    ],
  };
  if (theirs === null || own === null) return elsewhere;
  const isOwnPath = theirs.pathname === own.pathname;
  if (theirs.origin !== own.origin) {
    if (!isOwnPath) return elsewhere;
    return failing(
      `Its URL leads to ${theirs.host}, where this gateway was before: PUBLIC_URL now says ${own.host}. Point it here.`,
    );
  }
  if (isOwnPath)
    return failing(
      'Its URL is that of another webhook, so its events are taken for events of that one. Point it here again.',
    );
  const folder = own.pathname.split('/').slice(0, -2).join('/');
  if (!theirs.pathname.startsWith(`${folder}/`)) return elsewhere;
  return failing(
    'Its URL leads to this gateway, which answers 404: the URL is another caller’s, or DELIVERY_SECRET has changed. Point it here.',
  );
};
