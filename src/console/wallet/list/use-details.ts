import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../api/client.ts';
import type { Problem } from '../../api/problems.ts';

type WithId = { readonly id: string };

/** `moved`: another item stands in the place where this one was. */
export type Details<Node> =
  | { readonly state: 'loading' | 'moved' }
  | { readonly state: 'failed'; readonly problem: Problem }
  | { readonly state: 'loaded'; readonly node: Node };

/** Loads the item in the place of the list where this one was. */
export type LoadNode<Node> = (signal: AbortSignal) => Promise<{
  readonly node: Node | null;
  readonly problems: Answer<unknown>['problems'];
}>;

const detailsOf = <Node extends WithId>(
  id: string,
  { node, problems }: Awaited<ReturnType<LoadNode<Node>>>,
): Details<Node> => {
  const [problem] = problems;
  if (node) return node.id === id ? { state: 'loaded', node } : { state: 'moved' };
  return problem ? { state: 'failed', problem } : { state: 'moved' };
};

/** The details of the item with this id, and a function that loads them again. `load` has to be memoised. */
export const useDetails = <Node extends WithId>(
  id: string,
  load: LoadNode<Node>,
): [details: Details<Node>, retry: () => void] => {
  const [details, setDetails] = useState<Details<Node>>({ state: 'loading' });
  const running = useRef<AbortController | null>(null);
  const read = useCallback(() => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setDetails({ state: 'loading' });
    load(abort.signal)
      .then((answer) => setDetails(detailsOf(id, answer)))
      .catch(() => {});
  }, [id, load]);
  useEffect(() => {
    read();
    return () => running.current?.abort();
  }, [read]);
  return [details, read];
};
