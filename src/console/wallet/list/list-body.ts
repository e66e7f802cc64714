import type { ComponentChildren } from 'preact';
import type { Paged } from '../../api/use-connection.ts';
import { LoadMore } from '../../components/load-more.ts';
import { Empty, ProblemNotice, Skeleton } from '../../components/notice.ts';
import { html } from '../../html.ts';

type Props = {
  list: Paged<unknown>;
  what: string;
  kind: 'row' | 'card';
  /** What the place says when nothing is there. */
  empty: string;
  children: ComponentChildren;
};

const SKELETON_ROWS = 6;

/** A list in whichever state it is: the items, or what stands in their place. */
export const ListBody = ({ list, what, kind, empty, children }: Props) => {
  const { items, isLoading, problem, hasMore, retry, loadMore } = list;
  if (items.length > 0) return html`${children}<${LoadMore} list=${list} what=${what} />`;
  if (isLoading) return html`<${Skeleton} rows=${SKELETON_ROWS} kind=${kind} />`;
  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${retry} />`;
  if (hasMore)
    return html`<${Empty} title="Nothing on this page can be shown"><button type="button" onClick=${loadMore}>Load the next page</button><//>`;
  return html`<${Empty} title=${empty}>Other chains may have some: choose them above.<//>`;
};
