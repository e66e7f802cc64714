import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { SearchTokens, type SearchTokensQuery } from '../__generated__/operations.ts';
import { type Problem, send } from '../api/client.ts';
import { Avatar } from '../avatar.ts';
import { mostLikely, useChainNames, useChains, useOfferedViews } from '../chains.ts';
import { html } from '../components.ts';
import { inWords, shorten, shortHex } from '../format.ts';
import { labelOf, useLabels } from '../labels.ts';
import { problemsIn } from '../partial-errors.ts';
import { TokenLogo } from '../picture.ts';
import { recentWallets } from '../recent-wallets.ts';
import { hrefOf, isAddress, isHash, MOST_WALLETS, type View } from '../route.ts';
import { settings } from '../settings.ts';
import { useStore } from '../state.ts';

type FoundToken = NonNullable<SearchTokensQuery['searchTokens']>['nodes'][number];

/** What a search costs, whatever it finds. */
export const SEARCH_CU = 2;
/** The service finds nothing by a shorter text. */
export const SHORTEST_NAME = 3;

const PAUSE_MS = 500;

type Found = {
  /** The text that was searched; empty before the first search. */
  readonly text: string;
  readonly isLoading: boolean;
  readonly tokens: readonly FoundToken[];
  readonly problem: Problem | null;
  /** What the service says of chains that it could not search. */
  readonly missing: readonly string[];
};

const NOTHING: Found = { text: '', isLoading: false, tokens: [], problem: null, missing: [] };

export type TokenSearch = Found & {
  /** Whether a changed text is searched again, once the person stops typing. It is so from the first search on. */
  readonly isFollowing: boolean;
  begin(): void;
  end(): void;
};

/**
 * Tokens by a part of their name. Nothing is asked before `begin`. From then on the text is searched whenever it rests, until
 * `end`.
 */
export const useTokenSearch = (typed: string): TokenSearch => {
  const text = typed.trim();
  const [begunWith, setBegunWith] = useState<string | null>(null);
  const [found, setFound] = useState(NOTHING);
  const isFollowing = begunWith !== null;

  useEffect(() => {
    if (!isFollowing || text.length < SHORTEST_NAME) {
      setFound(NOTHING);
      return;
    }
    const abort = new AbortController();
    const search = async () => {
      const { data, problems } = await send(SearchTokens, { query: text }, abort.signal);
      if (abort.signal.aborted) return;
      setFound({
        text,
        isLoading: false,
        tokens: data?.searchTokens?.nodes ?? [],
        problem: data?.searchTokens ? null : (problems[0] ?? null),
        missing: problemsIn(data?.searchTokens?.partialErrors),
      });
    };
    setFound((before) => ({ ...before, isLoading: true, problem: null }));
    // An explicit choice to search is searched at once.
    const timer = setTimeout(() => void search().catch(() => {}), text === begunWith ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [isFollowing, begunWith, text]);

  return { ...found, isFollowing, begin: () => setBegunWith(text), end: () => setBegunWith(null) };
};

export type Suggestion = {
  readonly id: string;
  readonly group: 'Wallets' | 'Tokens' | 'Transactions' | 'Views';
  /** Null for an icon. */
  readonly picture: VNode | null;
  readonly title: string;
  /** Quiet, behind the title. */
  readonly detail: string;
  /** Where it leads, or what it does while the field stays open. */
  readonly action: string | (() => void);
};

const MOST_SUGGESTED = 6;
const MOST_NATIVE = 3;
/** The chain that an address is looked up on as a token, until the person chooses another. */
const firstOf = (chains: ReturnType<typeof useChains>): number => {
  const main = chains.filter(({ tags }) => tags.includes('default'));
  return (main.find(({ chainId }) => chainId === 1) ?? main[0])?.chainId ?? 1;
};

const walletSuggestion = (address: string): Suggestion => ({
  id: `wallet-${address}`,
  group: 'Wallets',
  picture: html`<${Avatar} address=${address} size=${28} />`,
  title: labelOf(address) ?? shortHex(address),
  detail: labelOf(address) === null ? address : shortHex(address),
  action: hrefOf('wallet', [address]),
});

const tokenSuggestion = (token: FoundToken, chainName: string): Suggestion => ({
  id: `token-${token.id}`,
  group: 'Tokens',
  picture: html`<${TokenLogo} token=${token} size=${28} />`,
  title: shorten(token.symbol ?? 'unnamed', 24),
  detail: [token.name && shorten(token.name, 40), chainName, shortHex(token.address ?? '')]
    .filter(Boolean)
    .join(' · '),
  action: hrefOf('token', [`${token.chainId}:${token.address ?? 'native'}`]),
});

const compared = (addresses: readonly string[]): Suggestion => {
  const shown = addresses.slice(0, MOST_WALLETS);
  return {
    id: 'compare',
    group: 'Wallets',
    picture: null,
    title: `Compare ${shown.length} wallets`,
    detail: `${shown.map((address) => labelOf(address) ?? shortHex(address)).join(', ')}${shown.length < addresses.length ? `: the first of ${addresses.length}` : ''}`,
    action: hrefOf('wallet', shown),
  };
};

const contractAt = (address: string, chainId: number): Suggestion => ({
  id: `contract-${address}`,
  group: 'Tokens',
  picture: html`<${TokenLogo} token=${{ symbol: '?' }} size=${28} />`,
  title: `Token ${shortHex(address)}`,
  detail: 'if this is a token’s contract: choose the chain there',
  action: hrefOf('token', [`${chainId}:${address}`]),
});

/** A hash does not say its chain: it is chosen there, or here. */
const transactionAt = (hash: string, chains: ReturnType<typeof useChains>): readonly Suggestion[] => {
  const suggested = (id: string, detail: string, path: string): Suggestion => ({
    id: `tx-${id}`,
    group: 'Transactions',
    picture: null,
    title: `Transaction ${shortHex(hash)}`,
    detail,
    action: hrefOf('tx', [path]),
  });
  const onChains = mostLikely(chains).map(({ chainId, name }) =>
    suggested(String(chainId), `on ${inWords(name)}`, `${chainId}/${hash}`),
  );
  if (onChains.length === 1) return onChains;
  return [suggested('any', 'without a chain: it is found or chosen there', hash), ...onChains];
};

/** Those in which a word begins with the text come first, then those that contain it. */
const matching = <Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
  wanted: string,
): readonly Item[] => {
  const begins = (item: Item) => ` ${textOf(item).toLowerCase()}`.includes(` ${wanted}`);
  const found = items.filter((item) => textOf(item).toLowerCase().includes(wanted));
  return [...found.filter(begins), ...found.filter((item) => !begins(item))];
};

/** The wallets that a name or the beginning of an address means. Without a text, those that were opened last. */
const useWallets = (wanted: string): readonly Suggestion[] => {
  const own = useLabels();
  const recent = useStore(recentWallets);
  const known = [...new Set([...own.keys(), ...settings.wallets.map(({ address }) => address), ...recent])];
  const isHex = wanted.startsWith('0x') && wanted.length > 2;
  const found = isHex
    ? known.filter((address) => address.startsWith(wanted))
    : matching(known, (address) => labelOf(address) ?? '', wanted);
  return (wanted === '' ? recent : found).slice(0, MOST_SUGGESTED).map(walletSuggestion);
};

const VIEW_NAMES: Readonly<Partial<Record<View, readonly [string, string]>>> = {
  home: ['Start', 'search, recent wallets, own labels'],
  live: ['Live', 'events as they arrive'],
  webhooks: ['Webhooks', 'what is delivered where'],
  cost: ['Cost', 'what this visit has cost'],
};

const viewSuggestions = (views: readonly View[], wanted: string): readonly Suggestion[] =>
  views.flatMap((view) => {
    const [title, detail] = VIEW_NAMES[view] ?? [];
    if (title === undefined || detail === undefined || !title.toLowerCase().includes(wanted)) return [];
    return [{ id: `view-${view}`, group: 'Views', picture: null, title, detail, action: hrefOf(view) }];
  });

const useTokens = (text: string, search: TokenSearch): readonly Suggestion[] => {
  const chains = useChains();
  const nameOf = useChainNames();
  if (text.startsWith('0x') || text.length < 2) return [];
  const natives = chains.flatMap(({ chainId, tags, nativeToken: { symbol } }) =>
    symbol !== null && tags.includes('default') ? [{ chainId, symbol, chain: nameOf(chainId) }] : [],
  );
  const found = matching(natives, ({ symbol, chain }) => `${symbol} ${chain}`, text.toLowerCase());
  const native = found.slice(0, MOST_NATIVE).map(
    ({ chainId, symbol, chain }): Suggestion => ({
      id: `native-${chainId}`,
      group: 'Tokens',
      picture: html`<${TokenLogo} token=${{ symbol }} size=${28} />`,
      title: symbol,
      detail: `${chain}’s own currency`,
      action: hrefOf('token', [`${chainId}:native`]),
    }),
  );
  if (search.isFollowing)
    return [...native, ...search.tokens.map((token) => tokenSuggestion(token, nameOf(token.chainId)))];
  if (text.length < SHORTEST_NAME) return native;
  const begin: Suggestion = {
    id: 'search-tokens',
    group: 'Tokens',
    picture: null,
    title: `Search tokens named “${shorten(text, 30)}”`,
    detail: `${SEARCH_CU} CU, and ${SEARCH_CU} CU more whenever you change the text`,
    action: search.begin,
  };
  return [...native, begin];
};

/** What to offer for a text: wallets by address or name, tokens, and views. Nothing is asked for it, except by `search`. */
export const useSuggestions = (
  typed: string,
  search: TokenSearch,
  withViews: boolean,
): readonly Suggestion[] => {
  const text = typed.trim();
  const wanted = text.toLowerCase();
  const chains = useChains();
  const views = useOfferedViews();
  const wallets = useWallets(wanted);
  const tokens = useTokens(text, search);
  // One in mixed case stays as it is: its checksum is checked where it is opened.
  const parts = [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
  const [first = ''] = parts;
  if (parts.length > 1 && parts.every(isAddress)) return [compared(parts)];
  if (isAddress(first) && parts.length === 1)
    return [walletSuggestion(first), contractAt(first, firstOf(chains))];
  if (isHash(first) && parts.length === 1) return transactionAt(first, chains);
  // Searches that cost come last, so that Enter chooses a free suggestion first.
  return [...wallets, ...(withViews ? viewSuggestions(views, wanted) : []), ...tokens];
};
