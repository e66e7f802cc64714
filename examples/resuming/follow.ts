export type Edge = { readonly cursor: string; readonly node: { readonly payload: unknown } };

type Failure = { readonly message?: string; readonly extensions?: { readonly code?: unknown } };

/** One subscription to `deliveries` by some client, which resumes by itself while the page lives; gives what ends it. */
export type Subscribe = (
  after: string,
  listener: {
    delivery(edge: Edge): void;
    failed(errors: readonly Failure[]): void;
  },
) => () => void;

type Feed = {
  /** Reads anew what the page shows, and resolves with the `head` of that reading. */
  refetch(): Promise<string>;
  delivery(node: Edge['node']): void;
  failed(errors: readonly Failure[]): void;
};

/** Gives the page each delivery once, over reloads too; where the log can't go on, it reads anew. */
export const follow = async (name: string, subscribe: Subscribe, feed: Feed) => {
  const goOn = (after: string) =>
    subscribe(after, {
      delivery({ cursor, node }) {
        feed.delivery(node);
        sessionStorage.setItem(name, cursor);
      },
      async failed(errors) {
        const [code] = errors.map(({ extensions }) => extensions?.code);
        if (code !== 'CURSOR_EXPIRED' && code !== 'INVALID_CURSOR') return feed.failed(errors);
        sessionStorage.removeItem(name);
        stop = goOn(await feed.refetch());
      },
    });
  let stop = goOn(sessionStorage.getItem(name) ?? (await feed.refetch()));
  return () => stop();
};
