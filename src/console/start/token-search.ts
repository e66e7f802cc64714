import { useEffect, useState } from 'preact/hooks';
import { SearchTokens, type SearchTokensQuery } from '../__generated__/operations.ts';
import { type Problem, send } from '../api/client.ts';

export type FoundToken = NonNullable<SearchTokensQuery['searchTokens']>[number];

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
};

const NOTHING: Found = { text: '', isLoading: false, tokens: [], problem: null };

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
        tokens: data?.searchTokens ?? [],
        problem: data?.searchTokens ? null : (problems[0] ?? null),
      });
    };
    setFound((before) => ({ ...before, isLoading: true, problem: null }));
    // What the person chose to search is searched at once.
    const timer = setTimeout(() => void search().catch(() => {}), text === begunWith ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [isFollowing, begunWith, text]);

  return { ...found, isFollowing, begin: () => setBegunWith(text), end: () => setBegunWith(null) };
};
