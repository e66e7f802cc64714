import { ProblemNotice } from '../components/notice.ts';
import { shorten } from '../format/text.ts';
import { html } from '../html.ts';
import type { Fault } from './use-change.ts';

const MOST = 600;

/** What of a fault belongs to no field. */
export const FaultNotice = ({ fault: { refusals, problem } }: { fault: Fault }) => {
  if (problem !== null)
    return html`<${ProblemNotice} problem=${{ ...problem, message: shorten(problem.message, MOST) }} />`;
  if (refusals.length === 0) return null;
  return html`<div class="notice is-error" role="alert">
    <strong>That was refused</strong>
    ${refusals.map((message) => html`<p key=${message}>${shorten(message, MOST)}</p>`)}
  </div>`;
};
