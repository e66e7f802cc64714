import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput } from '../../graph/errors.ts';
import { semanticNonNull } from '../../graph/semantic-non-null.ts';
import { isObject, type RawObject } from '../../lib/json/exact-json.ts';
import { ANY_TOKEN } from '../../upstream/changes.ts';
import { itemLookup } from '../../upstream/lookup.ts';
import { NO_DETAILS, type PartialErrors } from '../../upstream/page.ts';
import { MalformedFieldError, malformed } from '../../upstream/parse/fields.ts';
import {
  nullable,
  type RecordTable,
  type RecordValue,
  readRecord,
  required,
} from '../../upstream/parse/record.ts';
import { type ChainArgs, chainArguments, chainsParameter } from '../chains/chains-schema.ts';
import { Token } from './token.ts';

const FOUND = {
  name: 'found',
  fields: {
    chainId: required('chain_id', 'chainId'),
    address: required('address', 'address'),
    symbol: nullable('symbol', 'lenientString'),
    name: nullable('name', 'lenientString'),
    logo: nullable('logo', 'webUrl'),
    decimals: nullable('decimals', 'tokenDecimals'),
  },
} as const satisfies RecordTable;

/** What a search finds, and of which chains it could not. */
type Found = {
  readonly nodes: readonly RecordValue<typeof FOUND>[];
  readonly partialErrors: PartialErrors | null;
};

const NOTHING: Found = { nodes: [], partialErrors: null };

/** The subject of a search. `address` is its text. */
type Search = { readonly address: string; readonly chains: string | null };

/** Upstream's largest answer: it costs as much as one of a single token. */
const MAX_FOUND = 50;

const readFound = readRecord(FOUND);

/** Items that are not tokens are left out, and so are tokens of chains that were not asked for. */
const readOne = (raw: RawObject): RecordValue<typeof FOUND>[] => {
  try {
    return [readFound(raw)];
  } catch (error) {
    if (error instanceof MalformedFieldError) return [];
    throw error;
  }
};

/** ERC-20 tokens by symbol and name. */
const searchLookup = itemLookup({
  name: 'search',
  path: (_search: Search) => ['v1', 'evm', 'search', 'tokens'],
  subjectOf: () => ANY_TOKEN,
  query: ({ address }) => ({ query: address, limit: String(MAX_FOUND) }),
  price: 2,
  // Symbols and names hardly change.
  timesHead: 300,
  read(body, chains): Found {
    // A bare list, unless there is something to say about it.
    const { tokens: listed, warnings }: RawObject =
      isObject(body) && body.warnings !== undefined ? body : { tokens: body };
    if (!Array.isArray(listed)) throw malformed('body', 'a list', body);
    const tokens = listed.slice(0, MAX_FOUND).filter(isObject).flatMap(readOne);
    return {
      nodes: tokens.filter(({ chainId }) => chains === null || chains.ids.has(chainId)),
      partialErrors: warnings === undefined ? null : { warnings },
    };
  },
});

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

const TokenSearch = builder.objectRef<Found>('TokenSearch').implement({
  description: 'What a search for tokens has found.',
  fields: (t) => ({
    nodes: t.expose('nodes', {
      type: [Token],
      description: 'The tokens, best first. Items of the service that are not tokens are left out.',
    }),
    partialErrors: t.expose('partialErrors', {
      type: 'JSON',
      nullable: true,
      description:
        'The warnings that the service sent, such as that a chain could not be searched: what it would have found is missing then. Null when it sent none.',
    }),
  }),
});

builder.queryField('searchTokens', (t) =>
  t.field({
    type: TokenSearch,
    nullable: true,
    description: `ERC-20 tokens whose symbol or name is like a text. It costs 2 compute units, whatever \`first\` says; a text of fewer than ${MIN_CHARACTERS} characters finds nothing, without a request. Addresses are not searched. Null, with an error, when the lookup fails.`,
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
    extensions: {
      ...semanticNonNull(),
      ...withCost<SearchArgs>({
        count: ({ first }) => sizeOf(first),
        lookup(args) {
          const text = textOf(args);
          return {
            list: [text, chainsParameter(args.chainIds, args.chainTags)],
            computeUnits: text === null ? 0 : searchLookup.price,
          };
        },
      }),
    },
    resolve: async (_root, args, context) => {
      const text = textOf(args);
      context.chains.assertKnown(args.chainIds, args.chainTags);
      if (text === null) return NOTHING;
      const key = { address: text, chains: chainsParameter(args.chainIds, args.chainTags) };
      const found = await searchLookup.read(context.lookups, key, NO_DETAILS);
      const { nodes, partialErrors } = found ?? NOTHING;
      return { nodes: nodes.slice(0, args.first), partialErrors };
    },
  }),
);

export const search = searchLookup;
