import { useEffect, useRef } from 'preact/hooks';
import type { Paged } from '../api/use-connection.ts';
import { html } from '../html.ts';
import { ProblemNotice } from './notice.ts';

/** How far below the window the next page is asked for. */
const AHEAD = '600px';

/** The end of a list: it loads the next page when it comes near, or on a click. */
export const LoadMore = ({ list, what }: { list: Paged<unknown>; what: string }) => {
  const end = useRef<HTMLDivElement>(null);
  const { hasMore, isLoading, problem, loadMore, retry, items } = list;
  const follows = hasMore && !isLoading && problem === null && items.length > 0;
  useEffect(() => {
    if (!follows || end.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) loadMore();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [follows, loadMore]);
  return html`<div class="list-end" ref=${end}>
    ${problem && items.length > 0 && html`<${ProblemNotice} problem=${problem} onRetry=${retry} />`}
    ${follows && html`<button type="button" onClick=${loadMore}>Load more ${what}</button>`}
    ${isLoading && items.length > 0 && html`<span role="status">Loading more ${what}…</span>`}
    ${!hasMore && items.length > 0 && html`<span>${items.length} ${what}: all of them.</span>`}
  </div>`;
};
