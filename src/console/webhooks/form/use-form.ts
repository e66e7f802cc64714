import { useId, useRef, useState } from 'preact/hooks';
import type { Outcome } from '../change.ts';
import { NO_FAULT, useChange } from '../use-change.ts';

/** What a field shows, and how it is changed. */
export type Bound<Value> = {
  readonly id: string;
  readonly value: Value;
  readonly error: string | undefined;
  readonly onChange: (value: Value) => void;
};

export type Form<Draft> = ReturnType<typeof useForm<Draft>>;

const FIRST_FAULT = '[aria-invalid="true"], .is-invalid summary, [role="alert"]';

const showFirstFault = (form: HTMLFormElement | null): void => {
  requestAnimationFrame(() => {
    const first = form?.querySelector<HTMLElement>(FIRST_FAULT);
    first?.focus();
    first?.scrollIntoView({ block: 'nearest' });
  });
};

/** A form that keeps what was typed until its change is made. */
export const useForm = <Draft>(initial: Draft, onStale: () => void) => {
  const id = useId();
  const element = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(initial);
  const { running, fault, setFault, run } = useChange(onStale);

  const bind = <Field extends keyof Draft & string>(field: Field): Bound<Draft[Field]> => ({
    id: `${id}-${field}`,
    value: draft[field],
    error: fault.errors[field],
    onChange(value) {
      setDraft((current) => ({ ...current, [field]: value }));
      const { [field]: _, ...errors } = fault.errors;
      setFault({ ...fault, errors });
    },
  });

  /** Resolves with the payload. `wrong` is what this page finds wrong by itself: with any of it, nothing is sent. */
  const submit = async <Value>(
    wrong: Readonly<Record<string, string>>,
    fields: readonly (keyof Draft & string)[],
    save: () => Promise<Outcome<Value>>,
  ): Promise<Value | null> => {
    let value: Value | null = null;
    if (Object.keys(wrong).length > 0) setFault({ ...NO_FAULT, errors: wrong });
    else value = await run('save', save, fields);
    if (value === null) showFirstFault(element.current);
    return value;
  };

  return { element, draft, fault, isSaving: running !== null, bind, submit };
};
