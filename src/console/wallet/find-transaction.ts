import { useEffect, useRef, useState } from 'preact/hooks';
import { TransactionByHash, TransactionDetails, WalletTransactions } from '../__generated__/operations.ts';
import type { Token } from '../activity/activity-model.ts';
import { keepFees } from '../activity/known.ts';
import { type Problem, problemHere, send } from '../api/client.ts';
import { useChain, useChainNames } from '../chains.ts';
import { Empty, html, ProblemNotice, Skeleton } from '../components.ts';
import { formatCount } from '../format.ts';
import { TransactionBody, type Whole } from './transaction-details.ts';

/** Reads one transaction whole: by its hash, or from the list of a wallet that sent or received it. */

/** In a list of these chains it is the first one after the cursor. */
type Place = { readonly after: string | null; readonly chainIds: readonly number[] };

export type Sought = {
  /** In whose list it is looked for. */
  readonly address: string;
  /** Null where it is not known: then it is only found at its place. */
  readonly chainId: number | null;
  readonly hash: string;
  /** Older ones need not be looked at. Without it, the list is searched to its end. */
  readonly time?: string | null;
  readonly place?: Place | null;
};

type Search =
  | { readonly state: 'idle' | 'searching' }
  /** `after`: where the search goes on, null if the list has no more that are as new. */
  | { readonly state: 'absent'; readonly after: string | null; readonly seen: number }
  | { readonly state: 'failed'; readonly problem: Problem }
  | { readonly state: 'found'; readonly transaction: Whole };

const ABSENT: Search = { state: 'absent', after: null, seen: 0 };

const ITEMS_OF_A_REQUEST = 100;
/** A search goes on behind these only when it is asked to. */
const MOST_PAGES = 10;

const readAt = async ({ address, hash }: Sought, place: Place, signal: AbortSignal): Promise<Search> => {
  const { data, problems } = await send(TransactionDetails, { address, ...place }, signal);
  const transaction = data?.wallet.transactions?.nodes[0];
  const [problem] = problems;
  if (!transaction && problem) return { state: 'failed', problem };
  // A newer one may have taken its place in the meantime.
  return transaction?.hash === hash
    ? { state: 'found', transaction }
    : { state: 'absent', after: place.after, seen: 0 };
};

/** Searches the wallet's list of one chain, which is newest first. */
const readFromList = async (
  sought: Sought,
  chainId: number,
  from: string | null,
  signal: AbortSignal,
): Promise<Search> => {
  const { address, hash, time } = sought;
  const chainIds = [chainId];
  let after = from;
  let seen = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const variables = { address, first: ITEMS_OF_A_REQUEST, after, chainIds };
    const { data, problems } = await send(WalletTransactions, variables, signal);
    const list = data?.wallet.transactions;
    const [problem = problemHere('NOT_JSON', 'The answer has no list.')] = problems;
    if (!list) return { state: 'failed', problem };
    let before = after;
    for (const edge of list.edges) {
      if (edge?.node?.hash === hash) return readAt(sought, { after: before, chainIds }, signal);
      before = edge?.cursor ?? before;
    }
    seen += list.edges.length;
    const oldest = list.edges.at(-1)?.node?.blockTime;
    after = list.pageInfo.endCursor;
    const isOlder = oldest !== undefined && time && Date.parse(oldest) < Date.parse(time);
    if (!list.pageInfo.hasNextPage || isOlder) return { ...ABSENT, seen };
  }
  return { state: 'absent', after, seen };
};

/** As `readFromList`, of a service that finds a transaction by its hash. */
const readByHash = async (chainId: number, hash: string, signal: AbortSignal): Promise<Search> => {
  const { data, problems } = await send(TransactionByHash, { chainId, hash }, signal);
  const [problem] = problems;
  if (data?.transaction) return { state: 'found', transaction: data.transaction };
  return problem ? { state: 'failed', problem } : ABSENT;
};

const read = async (
  sought: Sought,
  isFound: boolean,
  from: string | null,
  signal: AbortSignal,
): Promise<Search> => {
  const { chainId, hash, place } = sought;
  const placed = place && from === null ? await readAt(sought, place, signal) : ABSENT;
  if (placed.state !== 'absent' || chainId === null) return placed;
  return isFound ? readByHash(chainId, hash, signal) : readFromList(sought, chainId, from, signal);
};

/** Finds a transaction when it is told to, or at once. */
export const useTransaction = (sought: Sought, isAtOnce: boolean) => {
  const { address, chainId } = sought;
  const { findsByHash: isFound } = useChain(chainId);
  const [search, setSearch] = useState<Search>({ state: 'idle' });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  // What one wallet's list does not have, another's may.
  useEffect(() => setSearch((before) => (before.state === 'absent' ? { state: 'idle' } : before)), [address]);
  const start = (from: string | null = null) => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setSearch({ state: 'searching' });
    read(sought, isFound, from, abort.signal)
      .then((found) => {
        if (found.state === 'found') keepFees([found.transaction]);
        setSearch(found);
      })
      .catch(() => {});
  };
  useEffect(() => {
    if (isAtOnce) start();
  }, [isAtOnce, isFound]);
  return { search, start, isFound, chainId };
};

type FindingProps = Omit<ReturnType<typeof useTransaction>, 'start'> & {
  start: (from?: string | null) => void;
  /** How many loaded transactions of the chain are newer, those before it in the list; null where that is not known. */
  newer?: number | null;
  /** In whose units its events can be written. */
  tokens?: readonly Token[];
};

/** Its call, its events and its data, when they are asked for. */
export const Finding = ({ newer = null, tokens = [], search, start, isFound, chainId }: FindingProps) => {
  const nameOf = useChainNames();
  const price =
    newer === null
      ? `up to ${MOST_PAGES}`
      : `about ${formatCount(isFound ? 1 : Math.ceil((newer + 1) / ITEMS_OF_A_REQUEST))}`;
  switch (search.state) {
    case 'idle':
      return html`<div class="bar">
        <button type="button" onClick=${() => start()}>Read its call, events and data: ${price} CU</button>
        <span class="quiet">${isFound ? '' : `1 CU for each ${ITEMS_OF_A_REQUEST} transactions of this chain down to it.`}${newer !== null && ' The rest here is free.'}</span>
      </div>`;
    case 'searching':
      return html`<${Skeleton} rows=${2} />`;
    case 'failed':
      return html`<${ProblemNotice} problem=${search.problem} onRetry=${() => start()} />`;
    case 'absent': {
      const { after, seen } = search;
      if (isFound)
        return html`<${Empty} title=${`No transaction on ${nameOf(chainId)} has this hash`}>That is what the service answers for this one chain.<//>`;
      return html`<${Empty} title=${`The service does not list this transaction for the wallet on ${nameOf(chainId)}`}>
        ${after === null ? 'It may be in the list of the address that sent it, or on another chain.' : html`${seen > 0 && `It is not among the newest ${formatCount(seen)}. `}<button type="button" onClick=${() => start(after)}>Look further: up to ${MOST_PAGES} CU</button>`}
      <//>`;
    }
    case 'found':
      return html`<${TransactionBody} transaction=${search.transaction} tokens=${tokens} />`;
  }
};
