import type { Token } from '../types.ts';

/** How like two texts must be, from 0 to 1, if neither is a part of the other. */
const LIKENESS = 0.3;

const trigrams = (text: string): ReadonlySet<string> => {
  const padded = `  ${text.toLowerCase()} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
};

/** The part of all trigrams of two texts that both have, from 0 to 1. */
const likeness = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  const common = one.values().reduce((count, each) => count + (other.has(each) ? 1 : 0), 0);
  return common / (one.size + other.size - common);
};

/** How well a text matches a query; 0 when it does not. A part of the text matches too. */
const match = (query: string, wanted: ReadonlySet<string>, text: string): number => {
  const alike = likeness(wanted, trigrams(text));
  const contains = text.toLowerCase().includes(query.toLowerCase());
  return contains || alike >= LIKENESS ? alike + (contains ? 1 : 0) : 0;
};

/** The tokens whose symbols or names are like a text, the best first: the search of a source that has all of its tokens. */
export const bestMatches = (text: string, tokens: readonly Token[]): readonly Token[] => {
  const wanted = trigrams(text);
  return tokens
    .map((token) => ({
      token,
      score: Math.max(match(text, wanted, token.symbol), match(text, wanted, token.name)),
    }))
    .filter(({ score }) => score > 0)
    .sort(
      (one, other) =>
        other.score - one.score ||
        one.token.chain.id - other.token.chain.id ||
        (one.token.address < other.token.address ? -1 : 1),
    )
    .map(({ token }) => token);
};
