import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Operation, RefusalFragment, WebhookErrorCode } from '../__generated__/operations.ts';
import { type Problem, problemHere, send } from '../api/client.ts';
import type { Item } from '../api/use-connection.ts';
import { Dialog, html, Notice, ProblemNotice } from '../components.ts';
import { shorten } from '../format.ts';
import { fieldOf } from './webhook-words.ts';

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

const isRefusal = (result: object): result is RefusalFragment =>
  '__typename' in result && result.__typename === 'WebhookError';

export const NOTHING = problemHere('INTERNAL_SERVER_ERROR', 'Expected data or an error, got neither.');

/** A message without the path of the variable, beside whose field it is shown. */
const sentenceOf = (message: string): string =>
  message.replace(/^Variable "\$input" has invalid value at [^:]*: /, '');

/** Sends a mutation, whose one field is its payload or the service's refusal. */
export const sendChange = async <Result extends object, Input>(
  operation: Operation<Readonly<Record<string, Result>>, { readonly input: Input }>,
  input: Input,
): Promise<Outcome<Exclude<Result, RefusalFragment>>> => {
  const { data, problems } = await send(operation, { input });
  const [result] = Object.values(data ?? {});
  if (result !== undefined) {
    if (!isRefusal(result)) return { kind: 'done', value: result as Exclude<Result, RefusalFragment> };
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

type ConfirmDialogProps<Value> = {
  title: string;
  /** What happens when it is confirmed. */
  children: ComponentChildren;
  action: string;
  busy: string;
  save: () => Promise<Outcome<Value>>;
  onDone: (value: Value) => void;
  onStale: () => void;
  onClose: () => void;
};

/** Asks for confirmation before a destructive change. */
export const ConfirmDialog = <Value>(props: ConfirmDialogProps<Value>) => {
  const { title, children, action, busy, save, onDone, onStale, onClose } = props;
  const { running, fault, run } = useChange(onStale);
  const onConfirm = async () => {
    const value = await run('confirm', save);
    if (value !== null) onDone(value);
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <div class="stack">
      <${FaultNotice} fault=${fault} />
      ${children}
      <div class="bar">
        <button type="button" autofocus onClick=${onClose}>Cancel</button>
        <button type="button" class="danger" disabled=${running !== null} onClick=${onConfirm}>${running === null ? action : busy}</button>
      </div>
    </div>
  <//>`;
};
