import { follow } from 'evm-graphql-gateway/client';

export type Edge = { readonly cursor: string; readonly node: { readonly payload: unknown } };

/** Subscribes to `deliveries`, and resumes by itself while the page lives. Returns a function that ends it. */
export type Subscribe = (
  after: string,
  delivery: (edge: Edge) => void,
  failed: (reason: unknown) => void,
) => () => void;

type Page = {
  /** Reads again what the page shows, and resolves with the `head` of that result. */
  refetch(): Promise<string>;
  delivery(node: Edge['node']): void;
  failed(reason: unknown): void;
};

/** A page that acts on each delivery once, also after reloads. Without the two lines that use `sessionStorage` it only shows them. */
export const openPage = (name: string, subscribe: Subscribe, page: Page) =>
  follow({
    from: sessionStorage.getItem(name),
    read: () => page.refetch(),
    subscribe: (after, failed) =>
      subscribe(
        after,
        ({ cursor, node }) => {
          page.delivery(node);
          sessionStorage.setItem(name, cursor);
        },
        failed,
      ),
    failed: (reason) => page.failed(reason),
  });
