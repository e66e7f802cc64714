import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Problem } from '../api/client.ts';
import { useAnswer } from '../api/use-answer.ts';
import {
  type Connection,
  type Kept,
  type Paged,
  type PagedState,
  useConnection,
} from '../api/use-connection.ts';
import { createMemory } from '../route.ts';

type Page<Node> = Connection<Node> & { readonly partialErrors: unknown; readonly requestTime: string | null };

/** Loads a page of a wallet's list with this number of items. */
export type LoadWalletPage<Node> = (
  first: number,
  after: string | null,
  signal: AbortSignal,
) => Promise<{ readonly connection: Page<Node> | null; readonly problems: Answer<unknown>['problems'] }>;

type Notes = {
  /** What the service could not answer, from the last page that said so. */
  readonly partialErrors: unknown;
  /** How old the newest page is. */
  readonly requestTime: string | null;
  /** Why the list could not be read again from its beginning. */
  readonly reloadProblem: Problem | null;
};

export type WalletList<Node> = Notes & {
  readonly list: Paged<Node>;
  /** Loads the next page with as many items as are missing up to this number. */
  loadUpTo(count: number): void;
};

const NO_NOTES: Notes = { partialErrors: null, requestTime: null, reloadProblem: null };

const keptNotes = createMemory<Notes>();

/**
 * A list of a wallet, with what its answers say beside the items. Memoise `loadPage`. The list is kept for Back under
 * its name, which says which list it is, of which wallet and under which filters.
 */
export const useWalletList = <Node>(
  pageSize: number,
  loadPage: LoadWalletPage<Node>,
  kept: Kept<PagedState<Node>>,
): WalletList<Node> => {
  const { name } = kept;
  const [notes, setNotes] = useState(NO_NOTES);
  const nextSize = useRef(pageSize);

  const load = useCallback(
    async (after: string | null, signal: AbortSignal) => {
      const answer = await loadPage(nextSize.current, after, signal);
      // A page that failed is retried with the same size.
      if (answer.connection !== null) nextSize.current = pageSize;
      const { connection, problems } = answer;
      setNotes((before) => {
        if (connection === null)
          return { ...before, reloadProblem: after === null ? (problems[0] ?? null) : null };
        const { partialErrors, requestTime } = connection;
        return after === null
          ? { partialErrors, requestTime, reloadProblem: null }
          : { ...before, partialErrors: partialErrors ?? before.partialErrors, reloadProblem: null };
      });
      return answer;
    },
    [loadPage, pageSize],
  );
  // Messages about the previous list do not apply to another one.
  useEffect(() => setNotes(keptNotes.recall(name) ?? NO_NOTES), [load, name]);
  useEffect(() => {
    if (notes !== NO_NOTES) keptNotes.keep(name, notes);
  }, [notes, name]);
  const list = useConnection(load, kept);
  const { items, isLoading, loadMore } = list;

  const loadUpTo = (count: number) => {
    if (isLoading || items.length >= count) return;
    nextSize.current = count - items.length;
    loadMore();
  };
  return { ...notes, list, loadUpTo };
};

type WithId = { readonly id: string };

/** `moved`: another item stands in the place where this one was. */
export type Details<Node> =
  | { readonly state: 'loading' | 'moved' }
  | { readonly state: 'failed'; readonly problem: Problem }
  | { readonly state: 'loaded'; readonly node: Node };

/** The details of an item: `load` answers with the item that is now at this one's place in the list. Memoise it. */
export const useDetails = <Node extends WithId>(
  id: string,
  load: (signal: AbortSignal) => Promise<Answer<Node>>,
): [details: Details<Node>, retry: () => void] => {
  const { data, problems, isLoading, retry } = useAnswer(load);
  return [isLoading ? { state: 'loading' } : detailsOf(id, data, problems[0]), retry];
};

const detailsOf = <Node extends WithId>(
  id: string,
  node: Node | null,
  problem: Problem | undefined,
): Details<Node> => {
  if (node) return node.id === id ? { state: 'loaded', node } : { state: 'moved' };
  return problem ? { state: 'failed', problem } : { state: 'moved' };
};
