import { useState } from 'preact/hooks';
import type { Problem } from '../api/problems.ts';
import { type Outcome, sentenceOf } from './change.ts';
import { fieldOf } from './field-of.ts';

/** Why the last change was not made: at its fields, of no field, or a problem that no input corrects. */
export type Fault = {
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
    if (!isRefused || outcome.isGone) onStale();
    return null;
  };

  return { running, fault, setFault, run };
};
