import { useState } from 'preact/hooks';
import { UnwatchWallet, WatchedWallets, WatchWallet, type WebhookType } from '../__generated__/operations.ts';
import { type Problem, send, titleOf } from '../api/client.ts';
import { reachable } from '../api/reachable.ts';
import { html } from '../components.ts';
import { shorten } from '../format.ts';
import { settings } from '../settings.ts';
import { createStore, credentials, useStore } from '../state.ts';
import { sendChange } from '../webhooks/change.ts';
import { ALL_TYPES, inTypes } from '../webhooks/webhook-words.ts';

type Watched = {
  /** The types of events that are delivered for each. Null until they have been read. */
  readonly types: ReadonlyMap<string, readonly WebhookType[]> | null;
  /** False when there are more than have been read. */
  readonly isComplete: boolean;
  /** Why they could not be read, or the caller may not watch. */
  readonly problem: Problem | null;
};

const UNREAD: Watched = { types: null, isComplete: false, problem: null };

/** The wallets that the caller watches. All panels share them. */
const watched = createStore(UNREAD);

let reading: Promise<void> | null = null;

// Another caller may watch other wallets.
credentials.subscribe(() => {
  reading = null;
  watched.set(UNREAD);
});

const read = async (): Promise<void> => {
  const caller = credentials.get();
  const { data, problems } = await send(WatchedWallets, {});
  if (credentials.get() !== caller) return;
  const page = data?.watchedWallets;
  const [problem = null] = problems;
  if (!page) return watched.set({ ...watched.get(), problem });
  const types = new Map(page.nodes.flatMap((node) => (node ? [[node.wallet.address, node.types]] : [])));
  watched.set({ types, isComplete: !page.pageInfo.hasNextPage, problem: null });
};

/** The addresses of the watched wallets, as far as they have been read. */
export const useWatched = (): readonly string[] => [...(useStore(watched).types?.keys() ?? [])];

/** Reads the watched wallets again. The known ones are shown until then. */
export const readWatched = (): Promise<void> => {
  if (reading !== null) return reading;
  const begun = read().finally(() => {
    if (reading === begun) reading = null;
  });
  reading = begun;
  return begun;
};

// A gateway that was away may have lost some, as a new sandbox has.
reachable.subscribe(() => reachable.get() && watched.get().types !== null && void readWatched());

/** Watches the wallet, or ends that. Returns why it failed, in a line; an empty text if it succeeded. */
const setWatched = async (address: string, isWatched: boolean): Promise<string> => {
  const caller = credentials.get();
  const input = { address };
  const outcome = await (isWatched ? sendChange(WatchWallet, input) : sendChange(UnwatchWallet, input));
  if (credentials.get() !== caller) return '';
  if (outcome.kind === 'refused') return shorten(outcome.messages.join(' '), 200);
  if (outcome.kind === 'failed') {
    const { problem } = outcome;
    if (problem.code === 'FORBIDDEN') watched.set({ ...watched.get(), problem });
    return inOneLine(problem);
  }
  const types = new Map(watched.get().types);
  if (isWatched) types.set(address, ALL_TYPES);
  else types.delete(address);
  watched.set({ ...watched.get(), types, problem: null });
  return '';
};

const inOneLine = (problem: Problem): string => shorten(`${titleOf(problem)}: ${problem.message}`, 200);

/** Whether the wallet's events come here; false while that is not known. */
export const useIsWatched = (address: string): boolean => useStore(watched).types?.has(address) ?? false;

type Props = { address: string; title: string };

/** Makes the service deliver the wallet's events to this gateway, or ends it. */
export const WatchButton = ({ address, title }: Props) => {
  const { types, isComplete, problem } = useStore(watched);
  const [changing, setChanging] = useState('');
  const [failure, setFailure] = useState('');
  if (problem?.code === 'FORBIDDEN')
    return html`<span class="quiet">${settings.auth === 'jwt' ? html`Watching needs the scope <code>watch</code>.` : inOneLine(problem)}</span>`;
  if (types === null)
    return problem
      ? html`<span class="bad">${titleOf(problem)}: it is not known whether the wallet is watched.</span>
          <button type="button" onClick=${() => void readWatched()}>Look again</button>`
      : html`<button type="button" disabled>Watch<span class="visually-hidden"> ${title}</span></button>`;

  const delivered = types.get(address);
  const isPart = delivered !== undefined && delivered.length < ALL_TYPES.length;
  const set = (isWatched: boolean, word: string) => async () => {
    if (changing !== '') return;
    setChanging(word);
    setFailure('');
    setFailure(await setWatched(address, isWatched));
    setChanging('');
  };
  const button = (word: string, busy: string, isWatched: boolean) =>
    html`<button key=${word} type="button" class="watch" aria-disabled=${changing !== ''} onClick=${set(isWatched, word)}>${changing === word ? busy : word}<span class="visually-hidden"> ${title}</span></button>`;
  return html`
    ${isPart && html`<span class="quiet">${delivered.length === 0 ? 'Watching is paused.' : `Watching ${inTypes(delivered)} only.`}</span>`}
    ${isPart && button('Watch everything', 'Beginning…', true)}
    ${delivered === undefined ? button('Watch', 'Beginning…', true) : button(isPart ? 'Stop' : 'Watching — stop', 'Stopping…', false)}
    ${delivered === undefined && !isComplete && html`<span class="quiet">It may be watched: only the first wallets of the list were read.</span>`}
    <span class="bad" role="alert">${failure}</span>`;
};
