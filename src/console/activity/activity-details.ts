import { formatAmount } from 'evm-graphql-gateway/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  TransactionByHash,
  TransactionDetails,
  type TransactionDetailsQuery,
  TransactionPlaces,
} from '../__generated__/operations.ts';
import { type Problem, problemHere, send } from '../api/client.ts';
import { useChain, useChainNames } from '../chains.ts';
import { Empty, Facts, html, ProblemNotice, Skeleton, TransactionHash } from '../components.ts';
import { formatCount, inWords } from '../format.ts';
import { CallText, decodedText, RawJson, TransactionBody } from '../wallet/transaction-details.ts';
import { Flow } from './activity-flow.ts';
import { functionOf, type Happening, type Token, tokensIn } from './activity-model.ts';

/** An opened transaction: what its activities say, which is free, and what only the list of transactions has. */

type Transaction = NonNullable<
  NonNullable<TransactionDetailsQuery['wallet']['transactions']>['nodes'][number]
>;

export type Sought = Pick<Happening, 'hash' | 'chainId' | 'time'>;

type Search =
  | { readonly state: 'idle' | 'searching' }
  /** `after`: where the search goes on, null if the list has no more that are as new. */
  | { readonly state: 'absent'; readonly after: string | null; readonly seen: number }
  | { readonly state: 'failed'; readonly problem: Problem }
  | { readonly state: 'found'; readonly transaction: Transaction };

const ITEMS_OF_A_REQUEST = 100;
/** A search goes on behind these only when it is asked to. */
const MOST_PAGES = 10;

type Place = { readonly before: string | null } | { readonly after: string | null; readonly seen: number };

/** Finds a transaction in the wallet's list of one chain, which is newest first. */
const findPlace = async (
  address: string,
  { hash, chainId, time }: Sought,
  from: string | null,
  signal: AbortSignal,
): Promise<Place | Problem> => {
  let after = from;
  let seen = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const variables = { address, first: ITEMS_OF_A_REQUEST, after, chainIds: [chainId] };
    const { data, problems } = await send(TransactionPlaces, variables, signal);
    const list = data?.wallet.transactions;
    const [problem] = problems;
    if (!list) return problem ?? problemHere('NOT_JSON', 'The answer has no list.');
    let before = after;
    for (const edge of list.edges) {
      if (edge?.node?.hash === hash) return { before };
      before = edge?.cursor ?? before;
    }
    seen += list.edges.length;
    const oldest = list.edges.at(-1)?.node?.blockTime;
    after = list.pageInfo.endCursor;
    if (!list.pageInfo.hasNextPage || (oldest && Date.parse(oldest) < Date.parse(time)))
      return { after: null, seen };
  }
  return { after, seen };
};

const read = async (
  address: string,
  happening: Sought,
  from: string | null,
  signal: AbortSignal,
): Promise<Search> => {
  const place = await findPlace(address, happening, from, signal);
  if ('code' in place) return { state: 'failed', problem: place };
  if (!('before' in place)) return { state: 'absent', ...place };
  const variables = { address, after: place.before, chainIds: [happening.chainId] };
  const { data, problems } = await send(TransactionDetails, variables, signal);
  const transaction = data?.wallet.transactions?.nodes[0];
  const [problem] = problems;
  if (!transaction && problem) return { state: 'failed', problem };
  // A newer one has taken its place in the meantime.
  return transaction?.hash === happening.hash
    ? { state: 'found', transaction }
    : { state: 'absent', after: place.before, seen: 0 };
};

/** As `read`, of a service that finds a transaction by its hash. */
const readByHash = async ({ chainId, hash }: Sought, signal: AbortSignal): Promise<Search> => {
  const { data, problems } = await send(TransactionByHash, { chainId, hash }, signal);
  const [problem] = problems;
  if (data?.transaction) return { state: 'found', transaction: data.transaction };
  return problem ? { state: 'failed', problem } : { state: 'absent', after: null, seen: 0 };
};

/** Reads a transaction by its hash, or else from the wallet's list. */
export const readTransaction = (
  address: string,
  sought: Sought,
  isFound: boolean,
  signal: AbortSignal,
  from: string | null = null,
): Promise<Search> => (isFound ? readByHash(sought, signal) : read(address, sought, from, signal));

/** Finds a transaction by its hash, or in the wallet's list. Without a time, the list is searched to its end. */
export const useTransaction = (address: string, happening: Sought, isFound: boolean) => {
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
    readTransaction(address, happening, isFound, abort.signal, from)
      .then(setSearch)
      .catch(() => {});
  };
  return { search, start, isFound, chainId: happening.chainId };
};

type Props = {
  happening: Happening;
  address: string;
  /** How many loaded transactions of the chain are newer: those before it in the list. */
  newer: number;
};

type FindingProps = ReturnType<typeof useTransaction> & {
  /** As in `Props`; null where that is not known. */
  newer: number | null;
  tokens: readonly Token[];
};

/** Its call, its events and its data, when they are asked for. */
export const Finding = ({ newer, tokens, search, start, isFound, chainId }: FindingProps) => {
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

/** What a transaction did: its movements, its call, its events, and its JSON last. */
export const ActivityDetails = ({ happening, address, newer }: Props) => {
  const { hash, chainId, items } = happening;
  const { chain, findsByHash } = useChain(chainId);
  const reading = useTransaction(address, happening, findsByHash);
  const { search } = reading;
  const called = items.flatMap((item) => functionOf(item) ?? [])[0];
  const [{ blockNumber = null, contractName = null } = {}] = items;
  return html`<div class="details stack">
    <${Flow} items=${items} address=${address} />
    <${Facts} facts=${[
      ['Chain', `${chain ? inWords(chain.name) : 'chain'} (${chainId})`],
      ['Block', search.state !== 'found' && blockNumber !== null && formatAmount(blockNumber, 0)],
      ['Transaction', html`<${TransactionHash} value=${hash} chainId=${chainId} wallet=${address} />`],
      ['Contract', contractName],
    ]} />
    ${called && search.state !== 'found' && html`<section class="stack"><h3>Call</h3><${CallText} decoded=${called} text=${decodedText(called)} /></section>`}
    <${Finding} newer=${newer} tokens=${items.flatMap(tokensIn)} ...${reading} />
    <${RawJson} value=${search.state === 'found' ? { activities: items, transaction: search.transaction } : items} />
  </div>`;
};
