import { SendTestEvent, Webhook as WebhookOperation } from '../__generated__/operations.ts';
import { send, titleOf as titleOfProblem } from '../api/client.ts';
import { sendChange } from './change.ts';
import { lastArrival, refusalOf } from './health.ts';
import { hostOf, type Webhook } from './webhook-words.ts';

const FIRST_MS = 300;
const EVERY_MS = 1000;
const WAIT_MS = 15_000;

/** What is newest of a webhook: it changes when a delivery arrives, or is refused. */
const newestOf = (webhook: Webhook): string =>
  `${lastArrival(webhook)} ${webhook.refusedDeliveries?.[0]?.refusedAt}`;

/** Null if there is no such webhook any more, and if it can't be read. */
export const readWebhook = async (webhookId: string): Promise<Webhook | null> =>
  (await send(WebhookOperation, { webhookId })).data?.webhook ?? null;

const CAN_NOT =
  'This service can’t send test events. The next event of its addresses shows whether deliveries arrive.';

type Told = {
  /** What has happened so far. */
  readonly say: (status: string) => void;
  /** The webhook as it is once something has arrived. */
  readonly onChanged: (webhook: Webhook) => void;
};

/** Makes the service send a test event, and waits for what comes of it. Resolves once nothing more will be said. */
export const sendTestEvent = async (webhook: Webhook, { say, onChanged }: Told): Promise<void> => {
  const { webhookId, deliversHere, url } = webhook;
  const before = (await readWebhook(webhookId)) ?? webhook;
  const outcome = await sendChange(SendTestEvent, { input: { webhookId } }, (data) => data.sendTestEvent);
  if (outcome.kind === 'failed') return say(`${titleOfProblem(outcome.problem)}: ${outcome.problem.message}`);
  if (outcome.kind === 'refused')
    return say(outcome.code === 'UNSUPPORTED' ? CAN_NOT : `It was not sent: ${outcome.messages.join(' ')}`);
  if (!deliversHere) return say(`Sent to ${hostOf(url ?? '')}: only that host knows whether it arrived.`);
  say('Sent. Waiting for it to arrive…');
  const since = Date.now();
  for (let pause = FIRST_MS; Date.now() - since < WAIT_MS; pause = EVERY_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const after = await readWebhook(webhookId);
    if (after === null || newestOf(after) === newestOf(before)) continue;
    onChanged(after);
    const [refused] = after.refusedDeliveries ?? [];
    const arrived = lastArrival(after) ?? '';
    return say(
      refused !== undefined && refused.refusedAt > arrived
        ? `It was sent, and refused here: ${refusalOf(refused)}.`
        : 'It was sent, and a delivery has arrived.',
    );
  }
  say(`It was sent, but nothing has arrived: the service may not reach ${hostOf(url ?? '')}.`);
};
