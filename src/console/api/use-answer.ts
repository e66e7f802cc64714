import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Operation } from '../__generated__/operations.ts';
import { type Answer, send } from './client.ts';

type Asked<Data> = Answer<Data> & { readonly isLoading: boolean };

const LOADING = { data: null, problems: [], isLoading: true };

/** The answer of an operation. It is sent again when its variables have other values, and by `retry`. */
export const useOperation = <Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
): Asked<Data> & { retry(): void } => {
  const [answer, setAnswer] = useState<Asked<Data>>(LOADING);
  const running = useRef<AbortController | null>(null);
  const retry = useCallback(() => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setAnswer(LOADING);
    send(operation, variables, abort.signal)
      .then((next) => setAnswer({ ...next, isLoading: false }))
      .catch(() => {});
  }, [operation, JSON.stringify(variables)]);
  useEffect(() => {
    retry();
    return () => running.current?.abort();
  }, [retry]);
  return { ...answer, retry };
};
