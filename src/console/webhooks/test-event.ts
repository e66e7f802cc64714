import { SendTestEvent, Webhook as WebhookOperation } from '../__generated__/operations.ts';
import { send, titleOf } from '../api/client.ts';
import { sendChange } from './change.ts';
import { lastArrival, refusalOf } from './health.ts';
import { causeOf, hostOf, type Webhook } from './webhook-words.ts';

const FIRST_MS = 300;
const EVERY_MS = 1000;
const WAIT_MS = 15_000;

/** `isOpen`: with the bodies of its attempts. Null if the webhook no longer exists, and if it can't be read. */
export const readWebhook = async (webhookId: string, isOpen: boolean): Promise<Webhook | null> =>
  (await send(WebhookOperation, { webhookId, isOpen })).data?.webhook ?? null;

const CAN_NOT =
  'This service can’t send test events. The next event of its addresses shows whether deliveries arrive.';

/** What has happened so far, and whether it is bad. */
type Said = { readonly text: string; readonly isBad?: boolean };

/** What came of a test event that was sent elsewhere since the webhook was read; null while nothing has. */
const outcomeElsewhere = (before: Webhook, after: Webhook): Said | null => {
  const host = hostOf(before.url ?? '');
  const known = new Set(before.attempts?.map(({ deliveryId }) => deliveryId));
  const [last, ...others] = (after.attempts ?? []).filter(
    (attempt) => !known.has(attempt.deliveryId) && isTest(attempt),
  );
  if (last === undefined) return null;
  if (others.some(({ deliveryId }) => deliveryId !== last.deliveryId))
    return { text: `Sent to ${host}, as was another test event: the deliveries show what came of both.` };
  const came = last.accepted ? ', which accepted it' : `, but the delivery failed: ${causeOf(after, last)}`;
  return { text: `Sent to ${host}${came}.`, isBad: !last.accepted };
};

/** The hash of a test event's transaction begins with `test`, in services that tell of their attempts. */
const isTest = ({ payload }: NonNullable<Webhook['attempts']>[number]): boolean =>
  JSON.stringify(payload ?? null).includes('"0x74657374');

/** What is newest of a webhook: it changes when a delivery arrives, or is refused. */
const newestOf = (webhook: Webhook): string =>
  `${lastArrival(webhook)} ${webhook.refusedDeliveries?.[0]?.refusedAt}`;

const outcomeHere = (before: Webhook, after: Webhook): Said | null => {
  if (newestOf(after) === newestOf(before)) return null;
  const [refused] = after.refusedDeliveries ?? [];
  return refused !== undefined && refused.refusedAt > (lastArrival(after) ?? '')
    ? { text: `It was sent, and refused here: ${refusalOf(refused)}.`, isBad: true }
    : { text: 'It was sent, and a delivery has arrived.' };
};

/**
 * Makes the service send a test event, and yields what has happened so far, until nothing more will. `onChanged` gets the webhook
 * as it is once something has come of it.
 */
export async function* sendTestEvent(
  webhook: Webhook,
  onChanged: (webhook: Webhook) => void,
): AsyncGenerator<Said, void> {
  const { webhookId, deliversHere } = webhook;
  const host = hostOf(webhook.url ?? '');
  const before = (await readWebhook(webhookId, true)) ?? webhook;
  const change = await sendChange(SendTestEvent, { webhookId });
  if (change.kind === 'failed')
    return yield { text: `${titleOf(change.problem)}: ${change.problem.message}`, isBad: true };
  if (change.kind === 'refused') {
    const why = `It was not sent: ${change.messages.join(' ')}`;
    return yield { text: change.code === 'UNSUPPORTED' ? CAN_NOT : why, isBad: true };
  }
  if (!deliversHere && !before.attempts)
    return yield { text: `Sent to ${host}. The service does not say whether it arrived.` };
  yield {
    text: deliversHere ? 'Sent. Waiting for it to arrive…' : `Sent to ${host}. Waiting for its answer…`,
  };
  const since = Date.now();
  for (let pause = FIRST_MS; Date.now() - since < WAIT_MS; pause = EVERY_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const after = await readWebhook(webhookId, true);
    const outcome = after && (deliversHere ? outcomeHere : outcomeElsewhere)(before, after);
    if (!outcome) continue;
    onChanged(after);
    return yield outcome;
  }
  yield deliversHere
    ? { text: `It was sent, but nothing has arrived: the service may not reach ${host}.`, isBad: true }
    : { text: `Sent to ${host}. What came of it is not known yet: its deliveries show it.` };
}
