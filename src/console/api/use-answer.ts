import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Operation } from '../__generated__/operations.ts';
import { type Answer, send } from './client.ts';

type Asked<Data> = Answer<Data> & { readonly isLoading: boolean };

const LOADING = { data: null, problems: [], isLoading: true };

/** The answer of `load`. Pass a memoised function: a new one loads again, as `retry` does. */
export const useAnswer = <Data>(
  load: (signal: AbortSignal) => Promise<Answer<Data>>,
): Asked<Data> & { retry(): void } => {
  const [answer, setAnswer] = useState<Asked<Data>>(LOADING);
  const running = useRef<AbortController | null>(null);
  const retry = useCallback(() => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setAnswer(LOADING);
    load(abort.signal)
      .then((next) => setAnswer({ ...next, isLoading: false }))
      .catch(() => {});
  }, [load]);
  useEffect(() => {
    retry();
    return () => running.current?.abort();
  }, [retry]);
  return { ...answer, retry };
};

/** As `useAnswer`, of an operation: it is sent again when its variables have other values. */
export const useOperation = <Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
) => {
  const key = JSON.stringify(variables);
  return useAnswer(useCallback((signal) => send(operation, variables, signal), [operation, key]));
};
