import type { ComponentChildren } from 'preact';
import { isTransient, type Problem, titleOf } from '../api/problems.ts';
import { html } from '../html.ts';

/** What went wrong, and a button to try again. */
export const ProblemNotice = ({
  problem,
  onRetry,
}: {
  problem: Problem;
  onRetry?: (() => void) | undefined;
}) =>
  html`<div class=${`notice ${isTransient(problem) ? 'is-transient' : 'is-error'}`} role="alert">
    <strong>${titleOf(problem)}</strong>
    <p>${problem.message}</p>
    ${onRetry && html`<button type="button" onClick=${onRetry}>Try again</button>`}
  </div>`;

/** What a place looks like that has nothing to show. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) =>
  html`<div class="notice is-empty"><strong>${title}</strong>${children && html`<p>${children}</p>`}</div>`;

/** Grey lines in the place of what is loading, as high as that will be. After some seconds they say that it is slow. */
export const Skeleton = ({ rows, kind = 'row' }: { rows: number; kind?: 'row' | 'card' }) =>
  html`<div class=${`skeleton is-${kind}s`} role="status" aria-label="Loading">
    <p>This takes longer than usual.</p>
    ${Array.from({ length: rows }, (_, index) => html`<span key=${index} />`)}
  </div>`;
