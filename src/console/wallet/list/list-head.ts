import type { ComponentChildren } from 'preact';
import { titleOf } from '../../api/problems.ts';
import { shorten } from '../../format/text.ts';
import { formatAge, formatTime } from '../../format/time.ts';
import { html } from '../../html.ts';
import type { WalletList } from './use-wallet-list.ts';

type Props = { list: WalletList<unknown>; now: number; children?: ComponentChildren };

const notesOf = ({ partialErrors, reloadProblem, list }: WalletList<unknown>): string[] => [
  ...(reloadProblem && list.items.length > 0
    ? [`The list could not be refreshed: ${titleOf(reloadProblem)}. What is shown is older.`]
    : []),
  ...((partialErrors ?? null) === null
    ? []
    : [
        `The service reports problems with a part of the data: ${shorten(JSON.stringify(partialErrors), 300)}`,
      ]),
  ...(list.malformed > 0
    ? [`${list.malformed === 1 ? '1 item' : `${list.malformed} items`} could not be read.`]
    : []),
];

/** What stands above a list: how old it is, its buttons, and what is wrong with it. */
export const ListHead = ({ list, now, children }: Props) => {
  const { requestTime } = list;
  const { isLoading, reload } = list.list;
  const notes = notesOf(list);
  return html`<div class="bar">
      <button type="button" onClick=${reload}>Refresh</button>
      ${children}
      <span class="quiet push">${isLoading ? 'Loading…' : requestTime && html`as of <time datetime=${requestTime} title=${formatTime(requestTime)}>${formatAge(requestTime, now)}</time>`}</span>
    </div>
    ${notes.length > 0 && html`<ul class="notes" aria-label="About this list">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`}`;
};
