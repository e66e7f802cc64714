import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Memory } from '../route.ts';
import type { Answer, Problem } from './client.ts';

/** A Relay connection, as far as it is needed to page through it. */
export type Connection<Node> = {
  /** With cursors where a place between two items is to be found again, else the nodes alone. */
  readonly edges?: readonly ({ readonly cursor: string; readonly node: Node | null } | null)[];
  readonly nodes?: readonly (Node | null)[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
};

export type Item<Node> = {
  readonly node: Node;
  /** The cursor of the item before it, null for the first and without cursors: after it, the item is the first of a page. */
  readonly before: string | null;
};

export type PagedState<Node, Page = Connection<Node>> = {
  readonly items: readonly Item<Node>[];
  /** What was read since the beginning, for what it says beside its items. */
  readonly pages: readonly Page[];
  /** Items that the service sent and the gateway could not parse. */
  readonly malformed: number;
  readonly after: string | null;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: Problem | null;
  /** Whether what is loading, or has failed, begins at the newest item. */
  readonly isReload: boolean;
};

export type Paged<Node, Page = Connection<Node>> = PagedState<Node, Page> & {
  /** Loads the next page. Does nothing while one is loading, and after the last. */
  loadMore(): void;
  /** Starts again at the newest item. The present items are shown until then. */
  reload(): void;
  /** Retries what failed: the next page, or the new start. */
  retry(): void;
  change(items: (items: readonly Item<Node>[]) => readonly Item<Node>[]): void;
};

/** Loads a page: the connection, null when it failed, with the problems of the whole answer. */
export type LoadPage<Node, Page = Connection<Node>> = (
  after: string | null,
  signal: AbortSignal,
) => Promise<{
  readonly connection: Page | null;
  readonly problems: Answer<unknown>['problems'];
}>;

const EMPTY = {
  items: [],
  pages: [],
  malformed: 0,
  after: null,
  hasMore: true,
  isLoading: true,
  problem: null,
  isReload: true,
};

const joined = <Node, Page extends Connection<Node>>(
  state: PagedState<Node, Page>,
  page: Page,
): PagedState<Node, Page> => {
  const { nodes = [], edges = nodes.map((node) => ({ cursor: null, node })), pageInfo } = page;
  const items = [...state.items];
  let { malformed } = state;
  let before = state.after;
  for (const edge of edges) {
    if (edge?.node) items.push({ node: edge.node, before });
    else malformed += 1;
    before = edge?.cursor ?? before;
  }
  const after = pageInfo.endCursor ?? state.after;
  const pages = [...state.pages, page];
  return { ...state, items, pages, malformed, after, hasMore: pageInfo.hasNextPage, isLoading: false };
};

/**
 * Pages through a connection by its cursors. A new `load` begins a new list, so memoise it. A list with a memory stands as
 * it was left when Back leads to it; its name there says all that its content depends on.
 */
export const useConnection = <Node, Page extends Connection<Node> = Connection<Node>>(
  load: LoadPage<Node, Page>,
  memory: Memory<PagedState<Node, Page>> | null = null,
  name = '',
): Paged<Node, Page> => {
  const [state, setState] = useState<PagedState<Node, Page>>(() => memory?.recall(name) ?? EMPTY);
  const latest = useRef(state);
  const running = useRef<AbortController | null>(null);

  const put = useCallback(
    (next: PagedState<Node, Page>) => {
      latest.current = next;
      setState(next);
      if (next.items.length > 0) memory?.keep(name, { ...next, isLoading: false });
    },
    [name, memory],
  );

  const read = useCallback(
    async (from: PagedState<Node, Page>) => {
      running.current?.abort();
      const abort = new AbortController();
      running.current = abort;
      put({ ...latest.current, isLoading: true, problem: null, isReload: from === EMPTY });
      const page = await load(from.after, abort.signal).catch(() => null);
      if (page === null || abort.signal.aborted) return;
      running.current = null;
      const { connection, problems } = page;
      // The items may have been changed meanwhile.
      if (connection !== null) put(joined(from === EMPTY ? from : latest.current, connection));
      else put({ ...latest.current, isLoading: false, problem: problems[0] ?? null });
    },
    [load, put],
  );

  const reload = useCallback(() => void read(EMPTY), [read]);
  const loadMore = useCallback(() => {
    const { isLoading, hasMore } = latest.current;
    if (!isLoading && hasMore) void read(latest.current);
  }, [read]);
  const retry = useCallback(() => void read(latest.current.isReload ? EMPTY : latest.current), [read]);
  const change = useCallback(
    (edit: Parameters<Paged<Node>['change']>[0]) =>
      put({ ...latest.current, items: edit(latest.current.items) }),
    [put],
  );

  useEffect(() => {
    const recalled = memory?.recall(name);
    put(recalled ?? EMPTY);
    if (!recalled) reload();
    return () => running.current?.abort();
  }, [put, reload, name, memory]);

  return { ...state, loadMore, reload, retry, change };
};
