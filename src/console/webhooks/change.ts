import { useState } from 'preact/hooks';
import {
  type Operation,
  SendTestEvent,
  type WebhookErrorCode,
  Webhook as WebhookOperation,
} from '../__generated__/operations.ts';
import { type Problem, problemHere, send, titleOf as titleOfProblem } from '../api/client.ts';
import type { Item } from '../api/use-connection.ts';
import { html, Notice, ProblemNotice } from '../components.ts';
import { shorten } from '../format.ts';
import { lastArrival, refusalOf } from './health.ts';
import { fieldOf, hostOf, type Webhook } from './webhook-words.ts';

/** What has become of a change. */
export type Outcome<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  /** The caller can correct it. The code is null where the gateway refused the input itself. */
  | {
      readonly kind: 'refused';
      readonly messages: readonly string[];
      readonly code: WebhookErrorCode | null;
    }
  /** It may have been made all the same, as when the service took too long. */
  | { readonly kind: 'failed'; readonly problem: Problem };

type Refusal = {
  readonly __typename: 'WebhookError';
  readonly code: WebhookErrorCode;
  readonly message: string;
};

const isRefusal = (result: object): result is Refusal =>
  '__typename' in result && result.__typename === 'WebhookError';

const NOTHING = problemHere('INTERNAL_SERVER_ERROR', 'Expected data or an error, got neither.');

/** A message without the path of the variable, beside whose field it is shown. */
const sentenceOf = (message: string): string =>
  message.replace(/^Variable "\$input" has invalid value at [^:]*: /, '');

/** Sends a mutation, whose one field is its payload or the service's refusal. */
export const sendChange = async <Result extends object, Input>(
  operation: Operation<Readonly<Record<string, Result>>, { readonly input: Input }>,
  input: Input,
): Promise<Outcome<Exclude<Result, Refusal>>> => {
  const { data, problems } = await send(operation, { input });
  const [result] = Object.values(data ?? {});
  if (result !== undefined) {
    if (!isRefusal(result)) return { kind: 'done', value: result as Exclude<Result, Refusal> };
    return { kind: 'refused', messages: [result.message], code: result.code };
  }
  const [problem = NOTHING] = problems;
  if (problem.code !== 'BAD_USER_INPUT') return { kind: 'failed', problem };
  return { kind: 'refused', messages: problems.map(({ message }) => message), code: null };
};

/** Why the last change was not made: at its fields, of no field, or a problem that no input corrects. */
type Fault = {
  readonly errors: Readonly<Record<string, string>>;
  readonly refusals: readonly string[];
  readonly problem: Problem | null;
};

export const NO_FAULT: Fault = { errors: {}, refusals: [], problem: null };

const refused = (messages: readonly string[], fields: readonly string[]): Fault => {
  const errors: Record<string, string> = {};
  const refusals: string[] = [];
  for (const message of messages) {
    const field = fieldOf(message, fields);
    if (field === null) refusals.push(message);
    else errors[field] = [errors[field], sentenceOf(message)].filter(Boolean).join(' ');
  }
  return { errors, refusals, problem: null };
};

/** A disabled button loses the focus: it gets it back once it is enabled again. */
const giveBack = (focused: Element | null): void => {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body && focused instanceof HTMLElement) focused.focus();
  });
};

/**
 * Runs changes, one at a time. `onStale` is called when the list may show what is no longer so: a change that failed may
 * have been made, and a webhook may be gone.
 */
export const useChange = (onStale: () => void) => {
  const [running, setRunning] = useState<string | null>(null);
  const [fault, setFault] = useState(NO_FAULT);

  /** Resolves with the change's payload, or with null after a fault. `fields`: where its messages can be shown. */
  const run = async <Value>(
    name: string,
    save: () => Promise<Outcome<Value>>,
    fields: readonly string[] = [],
  ): Promise<Value | null> => {
    const focused = document.activeElement;
    setRunning(name);
    setFault(NO_FAULT);
    const outcome = await save();
    setRunning(null);
    giveBack(focused);
    if (outcome.kind === 'done') return outcome.value;
    const isRefused = outcome.kind === 'refused';
    setFault(isRefused ? refused(outcome.messages, fields) : { ...NO_FAULT, problem: outcome.problem });
    if (!isRefused || outcome.code === 'NOT_FOUND') onStale();
    return null;
  };

  return { running, fault, setFault, run };
};

/** The items without repeats: what was added here comes first, and the page that holds it as well does not repeat it. */
export const eachOnce = <Node>(
  items: readonly Item<Node>[],
  keyOf: (node: Node) => string,
): readonly Item<Node>[] => {
  const byKey = Map.groupBy(items, ({ node }) => keyOf(node));
  return [...byKey.values()].flatMap(([first]) => first ?? []);
};

const MOST = 600;

/** The part of a fault that belongs to no field of the form. */
export const FaultNotice = ({ fault: { refusals, problem } }: { fault: Fault }) => {
  if (problem !== null)
    return html`<${ProblemNotice} problem=${{ ...problem, message: shorten(problem.message, MOST) }} />`;
  if (refusals.length === 0) return null;
  const said = refusals.map((message) => html`<p key=${message}>${shorten(message, MOST)}</p>`);
  return html`<${Notice} title="That was refused">${said}<//>`;
};

const FIRST_MS = 300;
const EVERY_MS = 1000;
const WAIT_MS = 15_000;

/** What is newest of a webhook: it changes when a delivery arrives, or is refused. */
const newestOf = (webhook: Webhook): string =>
  `${lastArrival(webhook)} ${webhook.refusedDeliveries?.[0]?.refusedAt}`;

/** `isOpen`: with the bodies of its attempts. Null if the webhook no longer exists, and if it can't be read. */
export const readWebhook = async (webhookId: string, isOpen: boolean): Promise<Webhook | null> =>
  (await send(WebhookOperation, { webhookId, isOpen })).data?.webhook ?? null;

const CAN_NOT =
  'This service can’t send test events. The next event of its addresses shows whether deliveries arrive.';

type Told = {
  /** What has happened so far, and whether it is bad. */
  readonly say: (status: string, isBad?: boolean) => void;
  /** The webhook as it is once something has come of it. */
  readonly onChanged: (webhook: Webhook) => void;
};

type TestOutcome = { readonly text: string; readonly isBad: boolean };

/** What came of a test event since the webhook was read; null while nothing has. */
const testOutcome = (before: Webhook, after: Webhook): TestOutcome | null => {
  if (!before.deliversHere) {
    const known = new Set(before.attempts?.map(({ deliveryId }) => deliveryId));
    const attempt = after.attempts?.findLast(({ deliveryId }) => !known.has(deliveryId));
    if (attempt === undefined) return null;
    const came = attempt.accepted ? ', which accepted it' : `, but the delivery failed: ${attempt.problem}`;
    return { text: `Sent to ${hostOf(before.url ?? '')}${came}.`, isBad: !attempt.accepted };
  }
  if (newestOf(after) === newestOf(before)) return null;
  const [refused] = after.refusedDeliveries ?? [];
  return refused !== undefined && refused.refusedAt > (lastArrival(after) ?? '')
    ? { text: `It was sent, and refused here: ${refusalOf(refused)}.`, isBad: true }
    : { text: 'It was sent, and a delivery has arrived.', isBad: false };
};

/** Makes the service send a test event, and waits for what comes of it. Resolves once nothing more will be said. */
export const sendTestEvent = async (webhook: Webhook, { say, onChanged }: Told): Promise<void> => {
  const { webhookId, deliversHere, url } = webhook;
  const before = (await readWebhook(webhookId, true)) ?? webhook;
  const change = await sendChange(SendTestEvent, { webhookId });
  if (change.kind === 'failed')
    return say(`${titleOfProblem(change.problem)}: ${change.problem.message}`, true);
  if (change.kind === 'refused')
    return say(
      change.code === 'UNSUPPORTED' ? CAN_NOT : `It was not sent: ${change.messages.join(' ')}`,
      true,
    );
  const host = hostOf(url ?? '');
  if (!deliversHere && !before.attempts)
    return say(`Sent to ${host}. The service does not tell what came of it.`);
  say(deliversHere ? 'Sent. Waiting for it to arrive…' : `Sent to ${host}. Waiting for its answer…`);
  const since = Date.now();
  for (let pause = FIRST_MS; Date.now() - since < WAIT_MS; pause = EVERY_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const after = await readWebhook(webhookId, true);
    const outcome = after && testOutcome(before, after);
    if (!outcome) continue;
    onChanged(after);
    return say(outcome.text, outcome.isBad);
  }
  say(
    deliversHere
      ? `It was sent, but nothing has arrived: the service may not reach ${host}.`
      : `It was sent to ${host}, and the service has no answer yet.`,
    true,
  );
};
