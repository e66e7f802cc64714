import { joinPage, keepsPages } from './lists.ts';

/** The part of Relay's records that pages need. */
type Linked = {
  getDataID(): string;
  getValue(name: string): unknown;
  setValue(value: unknown, name: string): unknown;
  getLinkedRecord(name: string): Linked | null | undefined;
  getLinkedRecords(name: string): (Linked | null | undefined)[] | null | undefined;
  setLinkedRecords(records: (Linked | null | undefined)[], name: string): unknown;
};

type Payload = {
  readonly dataID: string;
  readonly fieldKey: string;
  readonly handleKey: string;
  readonly args: Readonly<Record<string, unknown>> & { readonly after?: unknown; readonly before?: unknown };
};

type Handler = { update(store: unknown, payload: Payload): void };

const keepingPages = (own: Handler, most?: number): Handler => ({
  ...own,
  update(store, payload) {
    const connection = () =>
      (store as { get(id: string): Linked | null | undefined })
        .get(payload.dataID)
        ?.getLinkedRecord(payload.handleKey);
    const isFirstPage = (payload.args.after ?? payload.args.before ?? null) === null;
    const [field = ''] = payload.fieldKey.split('(');
    const list = isFirstPage && keepsPages(field) ? (connection()?.getLinkedRecords('edges') ?? []) : [];
    const pageInfo = connection()?.getLinkedRecord('pageInfo');
    const before = [pageInfo?.getValue('endCursor'), pageInfo?.getValue('hasNextPage')];
    own.update(store, payload);
    const joined = connection();
    const page = joined?.getLinkedRecords('edges');
    if (list.length === 0 || !joined || !page) return;
    const keyOf = (edge: Linked | null | undefined) => edge?.getLinkedRecord('node')?.getDataID();
    const { items, end } = joinPage(list, 0, page, keyOf, most);
    joined.setLinkedRecords(items, 'edges');
    if (end === 'page') return;
    const [endCursor, hasNextPage] = end === 'list' ? before : [items.at(-1)?.getValue('cursor'), true];
    const after = joined.getLinkedRecord('pageInfo');
    after?.setValue(endCursor, 'endCursor');
    after?.setValue(hasNextPage, 'hasNextPage');
  },
});

/**
 * Makes of Relay's `DefaultHandlerProvider` one by which `Wallet.activity` and `Wallet.transactions` keep their loaded pages
 * when their first page is fetched again: newer items appear on top.
 *
 *     new Environment({ handlerProvider: keepPages(DefaultHandlerProvider), … })
 *
 * Where that page has no item in common with what is loaded, the list begins anew, as it does by default. Behind `most` rows,
 * 1,000 by default, a list that grows on top is cut at its end, and can be loaded again from there.
 */
export const keepPages = <Provider extends (handle: string) => unknown>(
  provider: Provider,
  most?: number,
): Provider => {
  let keeping: Handler | undefined;
  const provide = (handle: string): unknown => {
    if (handle !== 'connection') return provider(handle);
    keeping ??= keepingPages(provider(handle) as Handler, most);
    return keeping;
  };
  return provide as Provider;
};
