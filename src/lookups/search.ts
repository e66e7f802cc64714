import { builder } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { badUserInput } from '../graph/errors.ts';
import { NO_DETAILS } from '../upstream/page.ts';
import { type ChainArgs, chainArguments, chainsParameter } from './chains-schema.ts';
import { MAX_FOUND, searchLookup } from './search-rest.ts';
import { Token } from './token.ts';

/** The service answers shorter texts with nothing. */
const MIN_CHARACTERS = 3;
/** Longer than any symbol or name, and short enough for a URL. */
const MAX_CHARACTERS = 200;

type SearchArgs = ChainArgs & { readonly query: string; readonly first: number };

/** Returns the text that is searched for: one for all spellings that find the same. Null for one that finds nothing. */
const textOf = ({ query, first }: Pick<SearchArgs, 'query' | 'first'>): string | null => {
  const text = query.trim().toLowerCase();
  const { length } = [...text];
  if (length > MAX_CHARACTERS)
    throw badUserInput(`Expected a query of at most ${MAX_CHARACTERS} characters, got ${length}.`);
  return length < MIN_CHARACTERS || sizeOf(first) === 0 ? null : text;
};

const sizeOf = (first: number): number => {
  if (first < 0 || first > MAX_FOUND)
    throw badUserInput(`Expected first from 0 to ${MAX_FOUND} tokens, got ${first}.`);
  return first;
};

builder.queryField('searchTokens', (t) =>
  t.field({
    type: [Token],
    nullable: true,
    description: `ERC-20 tokens whose symbol or name is like a text, best first. It costs 2 compute units, whatever \`first\` says; a text of fewer than ${MIN_CHARACTERS} characters finds nothing, without a request. Addresses are not searched. Items that are no tokens are left out. Null, with an error, when the lookup fails.`,
    authScopes: { wallets: true },
    args: {
      query: t.arg.string({
        required: true,
        description: `A part of a symbol or name, in any letter case; at most ${MAX_CHARACTERS} characters.`,
      }),
      first: t.arg.int({
        required: true,
        defaultValue: 10,
        description: `How many tokens, from 0 to ${MAX_FOUND}.`,
      }),
      ...chainArguments,
    },
    extensions: withCost<SearchArgs>({
      count: ({ first }) => sizeOf(first),
      lookup(args) {
        const text = textOf(args);
        return {
          list: [text, chainsParameter(args.chainIds, args.chainTags)],
          computeUnits: text === null ? 0 : searchLookup.price,
        };
      },
    }),
    resolve: async (_root, args, context) => {
      const text = textOf(args);
      context.chains.assertKnown(args.chainIds, args.chainTags);
      if (text === null) return [];
      const key = { address: text, chains: chainsParameter(args.chainIds, args.chainTags) };
      const found = await searchLookup.read(context.lookups, key, NO_DETAILS);
      return (found ?? []).slice(0, args.first);
    },
  }),
);

export const search = searchLookup;
