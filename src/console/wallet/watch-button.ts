import { useState } from 'preact/hooks';
import { type Problem, titleOf } from '../api/problems.ts';
import { shorten } from '../format/text.ts';
import { html } from '../html.ts';
import { settings } from '../settings.ts';
import { useStore } from '../state/store.ts';
import { readWatched, setWatched, watched } from './watched.ts';

const inOneLine = (failure: string | Problem): string =>
  shorten(typeof failure === 'string' ? failure : `${titleOf(failure)}: ${failure.message}`, 200);

const Refused = ({ problem }: { problem: Problem }) =>
  html`<span class="quiet">${settings.auth === 'jwt' ? html`Watching needs the scope <code>watch</code>.` : inOneLine(problem)}</span>`;

const Unknown = ({ problem }: { problem: Problem }) =>
  html`<span class="bad">${titleOf(problem)}: it is not known whether the wallet is watched.</span>
    <button type="button" onClick=${() => void readWatched()}>Look again</button>`;

type Props = { address: string; title: string };

/** Has the wallet's events delivered to this gateway, or ends it. */
export const WatchButton = ({ address, title }: Props) => {
  const { addresses, isComplete, problem } = useStore(watched);
  const [isChanging, setChanging] = useState(false);
  const [failure, setFailure] = useState('');
  if (problem?.code === 'FORBIDDEN') return html`<${Refused} problem=${problem} />`;
  if (addresses === null)
    return problem
      ? html`<${Unknown} problem=${problem} />`
      : html`<button type="button" disabled>Watch<span class="visually-hidden"> ${title}</span></button>`;

  const isWatched = addresses.has(address);
  const onClick = async () => {
    if (isChanging) return;
    setChanging(true);
    setFailure('');
    const failed = await setWatched(address, !isWatched);
    setChanging(false);
    setFailure(failed === null ? '' : inOneLine(failed));
  };
  const word = isChanging ? (isWatched ? 'Stopping…' : 'Beginning…') : isWatched ? 'Watched — stop' : 'Watch';
  return html`<button type="button" class="watch" aria-disabled=${isChanging} onClick=${onClick}>${word}<span class="visually-hidden"> ${title}</span></button>
    ${!isWatched && !isComplete && html`<span class="quiet">It may be watched: only the first wallets of the list were read.</span>`}
    <span class="bad" role="alert">${failure}</span>`;
};
