import { withScope } from '../../graph/authorization.ts';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';
import { decodeGlobalId, type GlobalId } from '../../graph/global-id.ts';
import { notOfPages, ofPages } from '../../graph/plan/inspect-document.ts';
import { derivedField } from '../../graph/plan/plannable.ts';
import { semanticNonNull } from '../../graph/semantic-non-null.ts';
import { globalIdOr, isNullOf, lowLiquidityOf } from '../../upstream/parse/derived.ts';
import { Chain } from '../chains/chains-schema.ts';
import { nativeCurrencyOf } from '../chains/known-chains.ts';

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
 * A token as the item that names it describes it. What the item does not say is null or absent, and never causes a request.
 * Views of items have these properties.
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
  readonly url?: string | null;
  /** Of one whole token. */
  readonly priceUsd?: string | null;
  readonly poolSizeUsd?: string | null;
  /** As stated. */
  readonly lowLiquidity?: boolean | null;
};

/** An asset of one chain. Other features add what needs a request. */
export const Token = builder.objectRef<TokenRecord>('Token');

const ID = derivedField(globalIdOr(NATIVE, 'Token', 'chainId', 'address'));

builder.node(Token, {
  description:
    "An asset of one chain: a contract, or the chain's own currency. Its plain fields are those of the item that names it, and never cause an upstream request: what the item does not say is null.",
  extensions: withScope('wallets'),
  id: {
    description:
      'The global id of the token: the same wherever the token appears, for a chain and an address or the native asset.',
    extensions: ID.extensions,
    resolve: (token) => textOf(token),
  },
  loadOne: (id) => describedToken(tokenKeyIn(id)),
  fields: (t) => ({
    chain: t.exposeString('chain', nullIfOmitted("The service's name for the chain.")),
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
    symbol: t.exposeString('symbol', nullIfOmitted('The symbol, such as USDC.')),
    name: t.exposeString('name', nullIfOmitted('The name, such as USD Coin.')),
    decimals: t.exposeInt(
      'decimals',
      nullIfOmitted('One whole token is 10 to this power of its smallest unit.'),
    ),
    logo: t.expose('logo', {
      type: 'URL',
      ...nullIfOmitted("The URL of the token's picture: http, https or ipfs."),
    }),
    url: t.expose('url', { type: 'URL', ...nullIfOmitted("The URL of the token's website.") }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The price of one whole token in US dollars. Null when the item states none.',
    }),
    poolSizeUsd: t.expose('poolSizeUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'The liquidity of the pools that the price comes from, in US dollars. Null when the item states none, as for the native asset.',
    }),
    lowLiquidity: t.boolean({
      nullable: true,
      description:
        'Whether so little liquidity is behind the price that it is unreliable: as the service states it, or `poolSizeUsd` is below 10,000. False for the native asset. Null when neither is known.',
      ...derivedField(lowLiquidityOf('lowLiquidity', 'poolSizeUsd', 'address')),
    }),
  }),
});

builder.objectField(Chain, 'nativeToken', (t) =>
  t.field({
    type: Token,
    description:
      "The chain's own currency, such as ETH on Ethereum, with its symbol and decimals where the gateway knows them. It causes no request by itself.",
    resolve: ({ chainId, name }) => ({ ...describedToken({ chainId, address: null }), chain: name }),
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

/** A token that no item describes: what is known is the currency of a chain. */
const describedToken = (key: TokenKey): TokenRecord =>
  key.address === null ? { ...key, ...nativeCurrencyOf(key.chainId) } : key;

const globalIdOf = (input: TokenInputValue): GlobalId => ({
  typename: 'Token',
  id: textOf(tokenKeyOf(input)),
});

builder.queryFields((t) => ({
  token: t.field({
    type: Token,
    nullable: true,
    description:
      'The token with this id, of this contract, or the native asset of this chain. It causes no request by itself: `market` and `holders` do. Its plain fields are null, since no item describes it; of a native asset the gateway knows the symbol and the decimals. Null, with an error, for an id that is not one of a Token.',
    authScopes: { wallets: true },
    args: { token: t.arg({ type: TokenInput, required: true, description: 'Names the token.' }) },
    extensions: {
      ...ofPages(),
      ...semanticNonNull(),
      ...withCost<{ token: TokenInputValue }>({ returns: ({ token }) => [globalIdOf(token)] }),
    },
    resolve: (_root, { token }) => describedToken(tokenKeyOf(token)),
  }),
  tokens: t.field({
    type: [Token],
    nullable: { list: false, items: true },
    description: `These tokens, in the order of the input. They cause no request by themselves. An item is null, with an error, for an id that is not one of a Token. Fails with OPERATION_TOO_COMPLEX for more than ${MAX_TOKENS} tokens.`,
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
      }),
    },
    resolve: (_root, { tokens }) => {
      if (tokens.length > MAX_TOKENS)
        throw clientError(
          'OPERATION_TOO_COMPLEX',
          `Expected at most ${MAX_TOKENS} tokens, got ${tokens.length}.`,
        );
      // Promises fail one by one.
      return tokens.map(async (token) => describedToken(tokenKeyOf(token)));
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
