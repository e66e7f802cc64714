import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Operation } from '../__generated__/operations.ts';
import { type Problem, send } from '../api/client.ts';
import { type Connection, type Paged, type PagedState, useConnection } from '../api/use-connection.ts';
import { createMemory, type Memory } from '../route.ts';

/** What a panel of a wallet shows: the wallet, and its chains; none of them means the main ones. */
export type PanelProps = { readonly address: string; readonly chainIds: readonly number[] };

type Page<Node> = Connection<Node> & { readonly partialErrors: unknown; readonly requestTime: string | null };

/** `Head` is what a page says beside its items. */
type Described<Variables, Data, Node, Head> = {
  readonly pageSize: number;
  readonly operation: Operation<Data, Variables>;
  /** The page in an answer; null where it could not be read. */
  readonly pageIn: (data: Data) => (Page<Node> & Head) | null;
};

type Notes<Head> = {
  /** The newest page, for what it says beside its items. */
  readonly newest: Head | null;
  /** What the service could not answer, from the last page that said so. */
  readonly partialErrors: unknown;
  /** Why the list could not be read again from its beginning. */
  readonly reloadProblem: Problem | null;
};

const NO_NOTES = { newest: null, partialErrors: null, reloadProblem: null };

/** One of the lists of wallets, with what is kept of it for Back. */
type Source<Variables, Data, Node, Head> = Described<Variables, Data, Node, Head> & {
  readonly items: Memory<PagedState<Node>>;
  readonly notes: Memory<Notes<Page<Node> & Head>>;
};

/** Describes one of the lists of wallets, once for all wallets. */
export const walletList = <Variables, Data, Node, Head>(
  described: Described<Variables, Data, Node, Head>,
): Source<Variables, Data, Node, Head> => ({ ...described, items: createMemory(), notes: createMemory() });

/** What is asked for beside the range of a page. */
type Asked<Variables> = Omit<Variables, 'first' | 'after'>;

const keyOf = (asked: unknown): string => JSON.stringify(asked);

/** Whether Back or Forward has led to a list that is kept: then it costs nothing. */
export const isKept = <Variables, Data, Node, Head>(
  { items }: Source<Variables, Data, Node, Head>,
  asked: Asked<Variables>,
): boolean => items.recall(keyOf(asked)) !== null;

export type WalletList<Node, Head = unknown> = Notes<Page<Node> & Head> & {
  readonly list: Paged<Node>;
  readonly nodes: readonly Node[];
  /** Loads the next page with as many items as are missing up to this number. */
  loadUpTo(count: number): void;
};

/** A list of a wallet, with what its answers say beside the items. It is kept for Back under what is asked for. */
export const useWalletList = <Variables, Data, Node, Head>(
  source: Source<Variables, Data, Node, Head>,
  asked: Asked<Variables>,
): WalletList<Node, Head> => {
  const { pageSize, operation, pageIn } = source;
  const name = keyOf(asked);
  const [notes, setNotes] = useState<Notes<Page<Node> & Head>>(NO_NOTES);
  const nextSize = useRef(pageSize);

  const load = useCallback(
    async (after: string | null, signal: AbortSignal) => {
      const variables = { ...asked, first: nextSize.current, after } as Variables;
      const { data, problems } = await send(operation, variables, signal);
      const connection = data && pageIn(data);
      // A page that failed is retried with the same size.
      if (connection !== null) nextSize.current = pageSize;
      setNotes((before) => {
        if (connection === null)
          return { ...before, reloadProblem: after === null ? (problems[0] ?? null) : null };
        const { partialErrors } = connection;
        return after === null
          ? { newest: connection, partialErrors, reloadProblem: null }
          : { ...before, partialErrors: partialErrors ?? before.partialErrors, reloadProblem: null };
      });
      return { connection, problems };
    },
    [source, name],
  );
  // Messages about the previous list do not apply to another one.
  useEffect(() => setNotes(source.notes.recall(name) ?? NO_NOTES), [source, name]);
  useEffect(() => {
    if (notes !== NO_NOTES) source.notes.keep(name, notes);
  }, [notes, source, name]);
  const list = useConnection(load, source.items, name);
  const { items, isLoading, loadMore } = list;
  const nodes = useMemo(() => items.map(({ node }) => node), [items]);

  const loadUpTo = (count: number) => {
    if (isLoading || items.length >= count) return;
    nextSize.current = count - items.length;
    loadMore();
  };
  return { ...notes, list, nodes, loadUpTo };
};
