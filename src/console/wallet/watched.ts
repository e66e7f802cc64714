import { UnwatchWallet, WatchedWallets, WatchWallet } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import type { Problem } from '../api/problems.ts';
import { credentials } from '../state/credentials.ts';
import { createStore } from '../state/store.ts';

type Watched = {
  /** Null until they have been read. */
  readonly addresses: ReadonlySet<string> | null;
  /** False when there are more than have been read. */
  readonly isComplete: boolean;
  /** Why they could not be read, or the caller may not watch. */
  readonly problem: Problem | null;
};

const MAX_PAGES = 2;
const UNREAD: Watched = { addresses: null, isComplete: false, problem: null };

/** The wallets that the caller watches. All panels share them. */
export const watched = createStore(UNREAD);

const readPage = async (after: string | null) => {
  const { data, problems } = await send(WatchedWallets, { after });
  return { page: data?.watchedWallets ?? null, problem: problems[0] ?? null };
};

const readPages = async (): Promise<Watched> => {
  const addresses = new Set<string>();
  let cursor: string | null = null;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const { page, problem }: Awaited<ReturnType<typeof readPage>> = await readPage(cursor);
    if (page === null) return { ...watched.get(), problem };
    for (const node of page.nodes) if (node) addresses.add(node.wallet.address);
    cursor = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage) return { addresses, isComplete: true, problem: null };
  }
  return { addresses, isComplete: false, problem: null };
};

let reading: Promise<void> | null = null;

// Another caller watches other wallets.
credentials.subscribe(() => {
  reading = null;
  watched.set(UNREAD);
});

const read = async (): Promise<void> => {
  const caller = credentials.get();
  const next = await readPages();
  if (credentials.get() === caller) watched.set(next);
};

/** Reads the watched wallets again. What is known stays until then. */
export const readWatched = (): Promise<void> => {
  if (reading !== null) return reading;
  const begun = read().finally(() => {
    if (reading === begun) reading = null;
  });
  reading = begun;
  return begun;
};

const put = (address: string, isWatched: boolean): void => {
  const addresses = new Set(watched.get().addresses);
  if (isWatched) addresses.add(address);
  else addresses.delete(address);
  watched.set({ ...watched.get(), addresses, problem: null });
};

const change = async (address: string, isWatched: boolean): Promise<string | Problem | null> => {
  const input = { address };
  const { result, problems } = isWatched
    ? await send(WatchWallet, { input }).then((answer) => ({ ...answer, result: answer.data?.watchWallet }))
    : await send(UnwatchWallet, { input }).then((answer) => ({
        ...answer,
        result: answer.data?.unwatchWallet,
      }));
  if (!result) return problems[0] ?? null;
  return result.__typename === 'WebhookError' ? result.message : null;
};

/** Watches the wallet, or no more. Returns why that failed: the mistake's message, or the problem; null when it is done. */
export const setWatched = async (address: string, isWatched: boolean): Promise<string | Problem | null> => {
  const caller = credentials.get();
  const failure = await change(address, isWatched);
  if (credentials.get() !== caller) return null;
  if (failure === null) put(address, isWatched);
  else if (typeof failure !== 'string' && failure.code === 'FORBIDDEN')
    watched.set({ ...watched.get(), problem: failure });
  return failure;
};
