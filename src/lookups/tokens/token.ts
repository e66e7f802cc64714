import type { Context } from '../../context.ts';
import { withScope } from '../../graph/authorization.ts';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { type BilledLookup, withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';
import { decodeGlobalId, type GlobalId } from '../../graph/global-id.ts';
import { billNodes } from '../../graph/node.ts';
import { notOfPages, ofPages } from '../../graph/plan/inspect-document.ts';
import { derivedField } from '../../graph/plan/plannable.ts';
import { semanticNonNull } from '../../graph/semantic-non-null.ts';
import { NO_DETAILS } from '../../upstream/page.ts';
import { type ChainFact, chainFactOf, globalIdOr, isNullOf } from '../../upstream/parse/derived.ts';
import { Chain } from '../chains/chains-schema.ts';
import { marketLookup, type TokenMarketShape } from './market-rest.ts';

const MAX_TOKENS = 100;

/** Stands for the address of a chain's own currency, in ids and in upstream's paths. */
export const NATIVE = 'native';

/** What identifies a token. */
export type TokenKey = {
  readonly chainId: number;
  /** In lower case; null for the chain's own currency. */
  readonly address: string | null;
};

/**
 * A token as the item that names it describes it: what the item does not say is null. Views of items have these properties.
 * They are what every path to the token says of it, so nothing that belongs to one item, such as a price.
 */
export type TokenRecord = {
  readonly chainId: number;
  readonly address?: string | null;
  /** Upstream's name of the chain. */
  readonly chain?: string | null;
  readonly symbol?: string | null;
  readonly name?: string | null;
  readonly decimals?: number | null;
  readonly logo?: string | null;
  /** Whether only its id is known, so that the service must be asked what it is called. */
  readonly isBare?: true;
};

/** An asset of one chain. Other features add what needs a request. */
export const Token = builder.objectRef<TokenRecord>('Token');

const ID = derivedField(globalIdOr(NATIVE, 'Token', 'chainId', 'address'));

const CHAIN = derivedField(chainFactOf('chain', { own: 'chain', chainId: 'chainId', address: null }));

/** What items say of a token, and the service where no item does. */
const DESCRIBED = ['symbol', 'name', 'decimals', 'logo'] as const satisfies readonly ChainFact[];
type Described = (typeof DESCRIBED)[number];

/**
 * Returns what makes a field one of what a token is called. Of a chain's own currency the gateway knows it, whatever items
 * say. A bare token of a contract takes a request.
 */
const describedField = <Name extends Described>(name: Name) => {
  const derived = chainFactOf(name, { own: name, chainId: 'chainId', address: 'address' });
  return {
    extensions: { derived },
    resolve(token: TokenRecord, _args: object, context: Context): never {
      const value: unknown =
        token.isBare && token.address !== null
          ? readMarket(context, token).then((market) => market?.[name] ?? null)
          : derived.derive(token, context);
      // Its type is that of the field of the market.
      return value as never;
    },
  };
};

/** Names a token to the lookup of what the service says of it. */
export const marketOf = ({ chainId, address = null }: Pick<TokenRecord, 'chainId' | 'address'>) => ({
  address: textOf({ chainId, address }),
  chains: String(chainId),
  token: address ?? NATIVE,
});

/** Throws BAD_USER_INPUT for a chain on which the service describes no tokens. */
export const assertDescribed = ({ chains }: Context, chainId: number): void => {
  chains.assertKnown([chainId]);
  chains.assertSupported('TOKEN_INFO', [chainId]);
};

const readMarket = async (context: Context, token: TokenRecord): Promise<TokenMarketShape | null> => {
  assertDescribed(context, token.chainId);
  return marketLookup.read(context.lookups, marketOf(token), NO_DETAILS);
};

billNodes('Token', marketLookup.price, (id) => id);

builder.node(Token, {
  description:
    "An asset of one chain: a contract, or the chain's own currency. Its fields are the same wherever it appears. They cause no request below an item that names it, such as a balance, an activity or a token found. Of a contract that the client names itself, as in `token` and `node`, `symbol`, `name`, `decimals` and `logo` cost what `market` costs, once together with it.",
  extensions: withScope('wallets'),
  id: {
    description:
      'The global id of the token: the same wherever the token appears, for a chain and an address or the native asset.',
    extensions: ID.extensions,
    resolve: (token) => textOf(token),
  },
  loadOne: (id) => bareToken(tokenKeyIn(id)),
  fields: (t) => ({
    chain: t.string({
      nullable: true,
      description:
        "The service's name for the chain. Null for a chain that `chains` does not list, unless the service says it.",
      extensions: CHAIN.extensions,
      resolve: (token, args, context) => CHAIN.resolve(token, args, context) as string | null,
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    chainInfo: t.field({
      type: Chain,
      nullable: true,
      description: 'The chain as `chains` lists it. Null for a chain that it does not list.',
      extensions: notOfPages(),
      resolve: ({ chainId }, _args, { chains }) => chains.find(chainId),
    }),
    address: t.expose('address', {
      type: 'Address',
      nullable: true,
      description: 'The token contract. Null for the native asset.',
    }),
    isNative: t.boolean({
      description: "Whether it is the chain's own currency, such as ETH on Ethereum.",
      ...derivedField(isNullOf('address')),
    }),
    symbol: t.string({
      ...nullIfOmitted('The symbol, such as USDC.'),
      ...describedField('symbol'),
    }),
    name: t.string({ ...nullIfOmitted('The name, such as USD Coin.'), ...describedField('name') }),
    decimals: t.int({
      ...nullIfOmitted('One whole token is 10 to this power of its smallest unit.'),
      ...describedField('decimals'),
    }),
    logo: t.field({
      type: 'URL',
      nullable: true,
      description:
        "The URL of the token's picture: http, https or ipfs. Null when the service omits it, and for a chain's own currency unless the service's list of chains says it.",
      ...describedField('logo'),
    }),
  }),
});

builder.objectField(Chain, 'nativeToken', (t) =>
  t.field({
    type: Token,
    description:
      "The chain's own currency, such as ETH on Ethereum. Its symbol, name and decimals are null where neither the service's list of chains nor the gateway knows the currency: the setting EXTRA_CHAINS names it.",
    resolve: ({ chainId, name }) => ({ chainId, address: null, chain: name, isBare: true as const }),
  }),
);

const ContractInput = builder.inputType('ContractInput', {
  description: 'A contract on a chain.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', required: true, description: 'The id of the chain.' }),
    address: t.field({ type: 'Address', required: true, description: 'The address of the contract.' }),
  }),
});

/** Names a token. */
export const TokenInput = builder.inputType('TokenInput', {
  description: 'Names a token, by exactly one of its fields.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'The id of a Token.' }),
    contract: t.field({ type: ContractInput, description: 'The token of this contract.' }),
    nativeOf: t.field({ type: 'ChainId', description: "This chain's own currency." }),
  }),
});

export type TokenInputValue = typeof TokenInput.$inferInput;

/** Returns the token that an argument names. Throws BAD_USER_INPUT. */
export const tokenKeyOf = ({ id, contract, nativeOf }: TokenInputValue): TokenKey => {
  if (contract) return { chainId: contract.chainId, address: contract.address };
  if (typeof nativeOf === 'number') return { chainId: nativeOf, address: null };
  const globalId = decodeGlobalId(id ?? '');
  if (globalId.typename !== 'Token')
    throw badUserInput(`Expected the id of a Token, got one of type ${globalId.typename}.`);
  return tokenKeyIn(globalId.id);
};

/** What identifies a token, as a part of its global id and in keys of lists. */
export const textOf = ({ chainId, address }: Pick<TokenRecord, 'chainId' | 'address'>): string =>
  `${chainId}:${address ?? NATIVE}`;

/** Parses what `textOf` returns. Throws BAD_USER_INPUT. */
export const tokenKeyIn = (text: string): TokenKey => {
  const [, chainId = '', address = ''] = /^(\d{1,16}):(native|0x[0-9a-f]{40})$/.exec(text) ?? [];
  const key = { chainId: Number(chainId), address: address === NATIVE ? null : address };
  if (textOf(key) !== text) throw badUserInput('Expected the id of a Token, got something else.');
  return key;
};

/** A token that no item describes. */
const bareToken = (key: TokenKey): TokenRecord => ({ ...key, isBare: true });

/** What it costs to describe tokens: nothing where their markets are read as well. A chain's own currency is known. */
const costOfDescribing = (
  keys: readonly TokenKey[],
  below: (field: string) => readonly unknown[],
): BilledLookup => {
  const isAsked = DESCRIBED.some((field) => below(field).length > 0) && below('market').length === 0;
  const contracts = isAsked ? keys.filter(({ address }) => address !== null) : [];
  const texts = contracts.map(textOf);
  return { list: texts, computeUnits: marketLookup.price * new Set(texts).size };
};

const globalIdOf = (input: TokenInputValue): GlobalId => ({
  typename: 'Token',
  id: textOf(tokenKeyOf(input)),
});

builder.queryFields((t) => ({
  token: t.field({
    type: Token,
    nullable: true,
    description:
      'The token with this id, of this contract, or the native asset of this chain. It causes no request by itself: `market` and `holders` do, and what a contract is called does, for the price of its market. Null, with an error, for an id that is not one of a Token.',
    authScopes: { wallets: true },
    args: { token: t.arg({ type: TokenInput, required: true, description: 'Names the token.' }) },
    extensions: {
      ...ofPages(),
      ...semanticNonNull(),
      ...withCost<{ token: TokenInputValue }>({
        returns: ({ token }) => [globalIdOf(token)],
        lookup: ({ token }, _pricing, below) => costOfDescribing([tokenKeyOf(token)], below),
      }),
    },
    resolve: (_root, { token }) => bareToken(tokenKeyOf(token)),
  }),
  tokens: t.field({
    type: [Token],
    nullable: { list: false, items: true },
    description: `These tokens, in the order of the input. They cause no request by themselves, as \`token\`. An item is null, with an error, for an id that is not one of a Token. Fails with OPERATION_TOO_COMPLEX for more than ${MAX_TOKENS} tokens.`,
    authScopes: { wallets: true },
    args: {
      tokens: t.arg({
        type: [TokenInput],
        required: true,
        description: `Name the tokens, at most ${MAX_TOKENS}.`,
      }),
    },
    extensions: {
      ...ofPages(),
      ...semanticNonNull(1),
      ...withCost<{ tokens: readonly TokenInputValue[] }>({
        returns: ({ tokens }) => (tokens.length > MAX_TOKENS ? [] : tokens.flatMap(readable)),
        lookup: ({ tokens }, _pricing, below) =>
          costOfDescribing(
            tokens.length > MAX_TOKENS ? [] : tokens.flatMap(readable).map(({ id }) => tokenKeyIn(id)),
            below,
          ),
      }),
    },
    resolve: (_root, { tokens }) => {
      if (tokens.length > MAX_TOKENS)
        throw clientError(
          'OPERATION_TOO_COMPLEX',
          `Expected at most ${MAX_TOKENS} tokens, got ${tokens.length}.`,
        );
      // Promises fail one by one.
      return tokens.map(async (token) => bareToken(tokenKeyOf(token)));
    },
  }),
}));

/** Returns an empty list for a malformed id, which fails alone. */
const readable = (token: TokenInputValue): readonly GlobalId[] => {
  try {
    return [globalIdOf(token)];
  } catch {
    return [];
  }
};
