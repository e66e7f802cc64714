export type Edge = { readonly cursor: string; readonly node: { readonly payload: unknown } };

type Failure = { readonly message?: string; readonly extensions?: { readonly code?: unknown } };

/** Subscribes to `deliveries`, and resumes by itself while the page lives. Returns a function that ends it. */
export type Subscribe = (
  after: string,
  listener: {
    delivery(edge: Edge): void;
    failed(errors: readonly Failure[]): void;
  },
) => () => void;

type Feed = {
  /** Reads again what the page shows, and resolves with the `head` of that result. */
  refetch(): Promise<string>;
  delivery(node: Edge['node']): void;
  failed(errors: readonly Failure[]): void;
};

/** Gives the page each delivery once, also after reloads. After CURSOR_EXPIRED it reads again. */
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
