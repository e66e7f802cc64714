import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../api/client.ts';
import type { Problem } from '../../api/problems.ts';
import { type Connection, type Paged, useConnection } from '../../api/use-connection.ts';

type Page<Node> = Connection<Node> & { readonly partialErrors: unknown; readonly requestTime: string | null };

/** Loads a page of a wallet's list with so many items. */
export type LoadWalletPage<Node> = (
  first: number,
  after: string | null,
  signal: AbortSignal,
) => Promise<{ readonly connection: Page<Node> | null; readonly problems: Answer<unknown>['problems'] }>;

type Notes = {
  /** What the service says that it could not answer, of the last page that says so. */
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

/** A list of a wallet, with what its answers say beside the items. `loadPage` has to be memoised. */
export const useWalletList = <Node>(pageSize: number, loadPage: LoadWalletPage<Node>): WalletList<Node> => {
  const [notes, setNotes] = useState(NO_NOTES);
  const nextSize = useRef(pageSize);

  const load = useCallback(
    async (after: string | null, signal: AbortSignal) => {
      const answer = await loadPage(nextSize.current, after, signal);
      // One that failed is tried again with the same size.
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
  // Another list has nothing to do with what was said of the one before.
  useEffect(() => setNotes(NO_NOTES), [load]);
  const list = useConnection(load);
  const { items, isLoading, loadMore } = list;

  const loadUpTo = (count: number) => {
    if (isLoading || items.length >= count) return;
    nextSize.current = count - items.length;
    loadMore();
  };
  return { ...notes, list, loadUpTo };
};
