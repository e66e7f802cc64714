import { chainChoice, Refused, single } from '../http/query.ts';
import type { Lookup } from './lookup.ts';

const SEARCH = { default: 10, most: 50, shortest: 3, likeness: 0.3 };

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
  return contains || alike >= SEARCH.likeness ? alike + (contains ? 1 : 0) : 0;
};

/** The page size of a search, which is clamped at both ends. */
const searchLimit = (query: URLSearchParams): number => {
  const value = single(query, 'limit');
  if (value === null) return SEARCH.default;
  if (!/^-?\d+$/.test(value)) throw new Refused(400, 'Invalid limit: expected a whole number');
  return Math.min(Math.max(Number(value), 1), SEARCH.most);
};

/** ERC-20s by their symbols and names. The answer is a bare list, the best match first. */
export const searchTokens: Lookup = {
  path: '/v1/evm/search/tokens',
  errors: 'coded',
  computeUnits: () => 2,
  answer({ data, query }) {
    const wanted = (single(query, 'query') ?? '').trim();
    if (wanted === '') throw new Refused(400, 'Missing query: expected the symbol or the name of a token');
    const { chains } = chainChoice(query, data.chains, null, 'all');
    const count = searchLimit(query);
    if (wanted.length < SEARCH.shortest) return { body: [], chains: chains.length };
    const grams = trigrams(wanted);
    const found = data
      .tokens(new Set(chains.map(({ id }) => id)))
      .map((token) => ({
        token,
        score: Math.max(match(wanted, grams, token.symbol), match(wanted, grams, token.name)),
      }))
      .filter(({ score }) => score > 0)
      .sort(
        (one, other) =>
          other.score - one.score ||
          one.token.chain.id - other.token.chain.id ||
          (one.token.address < other.token.address ? -1 : 1),
      );
    const body = found.slice(0, count).map(({ token }) => ({
      chain_id: token.chain.id,
      address: token.address,
      token_type: 'ERC20',
      symbol: token.symbol,
      name: token.name,
      logo: data.logo(token.chain.id, token.address),
      decimals: token.decimals,
    }));
    return { body, chains: chains.length };
  },
};
