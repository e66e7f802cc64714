import { builder, nullIfOmitted } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { badUserInput } from '../graph/errors.ts';
import { encodeGlobalId } from '../graph/global-id.ts';
import { derivedField, viewField } from '../graph/plan/plannable.ts';
import { knownOrError } from '../graph/semantic-non-null.ts';
import { contentId, madeBy, smallPoolOf, wordOf } from '../upstream/parse/derived.ts';
import {
  ACTIVITY_TYPE_VALUES,
  ActivityType,
  ASSET_TYPE_VALUES,
  AssetType,
} from '../webhooks/schema/webhook.ts';
import { ACTIVITY_CONTENT, type Activity as ActivityShape, activityLookup } from './activity-rest.ts';
import { chainArguments } from './chains/chains-schema.ts';
import { listField } from './list-field.ts';
import { Token, type TokenRecord } from './tokens/token.ts';
import { Wallet } from './wallet.ts';

/** An activity, from a lookup or from a delivery. */
export const Activity = builder.objectRef<ActivityShape>('Activity');

/** Both sides of a swap: properties of the activity. */
type SwapShape = Pick<
  ActivityShape,
  'chainId' | Extract<keyof ActivityShape, `sold${string}` | `bought${string}`>
>;
const Swap = builder.objectRef<SwapShape>('Swap');

type SideShape = Omit<Partial<TokenRecord>, 'chainId'> & {
  readonly chainId: number | null;
  readonly value: string | null;
};
const SwapSide = builder.objectRef<SideShape>('SwapSide');

/** The properties of an activity that are those of one side of its swap. */
const sideOf = <Side extends 'sold' | 'bought'>(side: Side) =>
  ({
    address: `${side}Address`,
    symbol: `${side}Symbol`,
    name: `${side}Name`,
    decimals: `${side}Decimals`,
    logo: `${side}Logo`,
    value: `${side}Value`,
  }) as const;
const SOLD = sideOf('sold');
const BOUGHT = sideOf('bought');
const SWAPPED = [...Object.values(SOLD), ...Object.values(BOUGHT)];

const ofSubscriber = {
  ...viewField<ActivityShape, typeof Wallet.$inferType>({ address: 'subscribedAddress' }),
  resolve: ({ subscribedAddress }: ActivityShape) =>
    subscribedAddress === null ? null : { address: subscribedAddress },
};

/** A token belongs to a chain, which a delivery may not name. */
const onItsChain = <
  Source extends { readonly chainId: number | null },
  Field extends { resolve(record: Source): never },
>(
  field: Field & { resolve(record: Source): never },
) => ({
  ...field,
  resolve: (record: Source) => (record.chainId === null ? null : field.resolve(record)),
});

const ID = derivedField(
  contentId('Activity', ['subscribedAddress', 'chainId', 'transactionHash'], ACTIVITY_CONTENT),
);

/** Only the other side is named: who is called, or who calls. */
const CALL_TYPE = madeBy(
  { properties: ['typeName', 'from', 'to'], as: 'string', isNullable: true },
  ({ typeName, from, to }) => {
    if (typeName !== 'call') return null;
    return to != null ? 'outgoing' : from != null ? 'incoming' : null;
  },
);

Activity.implement({
  description: 'An action of a wallet, or one that affected it, from a lookup or from a delivery.',
  fields: (t) => ({
    id: t.id({
      description:
        "A key for client caches: unique for a wallet, a chain, a transaction, what the activity says and the number of equal ones of the transaction before it. In a delivery whose `wallet` is null, which may be an activity of any wallet, it is unique for the delivery. `node` can't refetch it.",
      ...ID,
      resolve: (activity, args, context) =>
        activity.deliveredAs === undefined
          ? ID.resolve(activity, args, context)
          : encodeGlobalId('Activity', `delivered:${activity.deliveredAs}`),
    }),
    wallet: t.field({
      type: Wallet,
      nullable: true,
      description:
        'The wallet whose activity it is. Always known in a lookup. Null in a delivery whose `subscribedAddress` is null.',
      ...ofSubscriber,
    }),
    type: t.field({
      type: ActivityType,
      nullable: true,
      description:
        'The type of the activity. Null when this gateway does not know it: `typeName` has it. A filter by `types` finds known ones only.',
      ...derivedField(wordOf('typeName', ACTIVITY_TYPE_VALUES)),
    }),
    typeName: t.exposeString('typeName', knownOrError('The type as the service wrote it.')),
    chainId: t.expose('chainId', { type: 'ChainId', ...knownOrError('The id of the chain.') }),
    blockNumber: t.expose('blockNumber', { type: 'BigInt', ...knownOrError('The number of the block.') }),
    blockTime: t.expose('blockTime', { type: 'DateTime', ...knownOrError('The time of the block.') }),
    transactionHash: t.expose('transactionHash', {
      type: 'Hex',
      ...knownOrError('The hash of the transaction.'),
    }),
    transactionFrom: t.expose('transactionFrom', {
      type: 'Address',
      ...nullIfOmitted("The transaction's sender."),
    }),
    transactionTo: t.expose('transactionTo', {
      type: 'Address',
      ...nullIfOmitted("The transaction's recipient."),
    }),
    transactionValue: t.expose('transactionValue', {
      type: 'BigInt',
      ...nullIfOmitted('The amount of the native asset that the transaction sends, in wei.'),
    }),
    assetType: t.field({
      type: AssetType,
      nullable: true,
      description:
        'The kind of the asset. Null when there is no asset, and when this gateway does not know its kind.',
      ...derivedField(wordOf('assetTypeName', ASSET_TYPE_VALUES)),
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'The token contract. Null for the native asset, in a swap, and when the service omits it.',
    }),
    tokenId: t.expose('tokenId', {
      type: 'BigInt',
      nullable: true,
      description: 'The token id. Null unless the asset is an ERC-721 or ERC-1155 token.',
    }),
    from: t.expose('from', {
      type: 'Address',
      nullable: true,
      description: 'The sender of the asset. Null when it is the wallet itself, which the service omits.',
    }),
    to: t.expose('to', {
      type: 'Address',
      nullable: true,
      description: 'The recipient of the asset. Null when it is the wallet itself, which the service omits.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      ...nullIfOmitted("The amount in the asset's smallest unit."),
    }),
    valueUsd: t.expose('valueUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The value in US dollars. Null when the price is unknown.',
    }),
    lowLiquidity: t.boolean({
      nullable: true,
      description:
        'Whether `valueUsd` is unreliable, as the price of the token comes from pools of less than 10,000 US dollars. Null when the service does not say how large they are.',
      ...derivedField(smallPoolOf('tokenPoolSizeUsd')),
    }),
    subscribedAddress: t.expose('subscribedAddress', {
      type: 'Address',
      nullable: true,
      description:
        "The address whose activity it is: in a lookup that of the wallet. A delivery of a hosted service omits it: it is known when this address has been the webhook's only one since before the event; otherwise null.",
    }),
    spender: t.expose('spender', {
      type: 'Address',
      nullable: true,
      description: 'The address that may spend the token. Null when the activity is not an approval.',
    }),
    callType: t.string({
      nullable: true,
      description:
        'Whether the wallet calls (`outgoing`) or is called (`incoming`). Null when the activity is not a call.',
      ...derivedField(CALL_TYPE),
    }),
    function: t.expose('function', {
      type: 'JSON',
      nullable: true,
      description:
        'The called function and its parameters, as the service wrote them. An integer beyond 2^53 is a string. Null when the call was not decoded.',
      extensions: withCost({ bytes: 100 }),
    }),
    contractName: t.exposeString('contractName', {
      nullable: true,
      description: 'The name of the called contract. Null when the service does not know it.',
    }),
    token: t.field({
      type: Token,
      nullable: true,
      description:
        'The asset that moved or was approved, as the activity says it: it causes no request. Null in a swap and in a call, when the service names no asset, and when a delivery omits the chain.',
      ...onItsChain(
        viewField<ActivityShape, TokenRecord>(
          {
            chainId: 'chainId',
            address: 'tokenAddress',
            symbol: 'tokenSymbol',
            name: 'tokenName',
            decimals: 'tokenDecimals',
            logo: 'tokenLogo',
          },
          ['tokenAddress', { property: 'assetTypeName', is: 'native' }],
          [
            { property: 'typeName', is: 'swap' },
            { property: 'typeName', is: 'call' },
          ],
        ),
      ),
    }),
    swap: t.field({
      type: Swap,
      nullable: true,
      description: 'Both sides of the swap. Null when the activity is not a swap.',
      ...viewField<ActivityShape, SwapShape>(
        {
          chainId: 'chainId',
          ...Object.fromEntries(SWAPPED.map((property) => [property, property])),
        },
        SWAPPED,
      ),
    }),
  }),
});

Swap.implement({
  description: 'A trade of one token for another, seen from the trader.',
  fields: (t) => ({
    from: t.field({
      type: SwapSide,
      ...nullIfOmitted('The token that was sold.'),
      ...viewField<SwapShape, SideShape>({ chainId: 'chainId', ...SOLD }, Object.values(SOLD)),
    }),
    to: t.field({
      type: SwapSide,
      ...nullIfOmitted('The token that was bought.'),
      ...viewField<SwapShape, SideShape>({ chainId: 'chainId', ...BOUGHT }, Object.values(BOUGHT)),
    }),
  }),
});

SwapSide.implement({
  description: 'One side of a swap.',
  fields: (t) => ({
    token: t.field({
      type: Token,
      nullable: true,
      description:
        'The token, as the activity says it: it causes no request. One without an address is the native asset. Null when a delivery omits the chain.',
      ...onItsChain(
        viewField<SideShape, TokenRecord>(
          {
            chainId: 'chainId',
            address: 'address',
            symbol: 'symbol',
            name: 'name',
            decimals: 'decimals',
            logo: 'logo',
          },
          ['address', 'symbol', 'name', 'decimals', 'logo', 'value'],
        ),
      ),
    }),
    value: t.expose('value', {
      type: 'BigInt',
      ...nullIfOmitted("The amount in the token's smallest unit."),
    }),
  }),
});

const MAX_TOKENS = 100;

const filterArguments = builder.args((t) => ({
  types: t.field({
    type: [ActivityType],
    description: 'Only activities of one of these types. An empty list is no filter.',
  }),
  assetTypes: t.field({
    type: [AssetType],
    description:
      'Only activities with an asset of one of these kinds: it leaves out calls, which have none. An empty list is no filter.',
  }),
  tokens: t.field({
    type: ['Address'],
    description: `Only activities with one of these token contracts, at most ${MAX_TOKENS}: it leaves out swaps, calls and the native asset. An empty list is no filter.`,
  }),
}));

/** Returns upstream's parameter for a set of words. It has one order, so that equal filters share cached pages. */
const setOf = (words: readonly string[] | null | undefined): string | null =>
  [...new Set(words)].toSorted().join(',').toLowerCase() || null;

export const activity = listField(Wallet, activityLookup, {
  item: Activity,
  items: "a wallet's activities",
  description:
    'What the wallet did and what happened to it, newest first: transfers, swaps, approvals, mints and calls, several for one transaction. It costs 3 compute units for each 100 activities, whatever the chains. Each set of filters is a list of its own: a client that shows two of them should filter one list itself. Native transfers within calls are not among them. Null, with an error, when the lookup fails.',
  args: { ...chainArguments, ...filterArguments },
  list({ address }, chains, { types, assetTypes, tokens }) {
    if (tokens && tokens.length > MAX_TOKENS)
      throw badUserInput(`Expected at most ${MAX_TOKENS} tokens, got ${tokens.length}.`);
    return { address, chains, types: setOf(types), assetTypes: setOf(assetTypes), tokens: setOf(tokens) };
  },
  advice: `Each ${activityLookup.pageSizes.older} activities cost 3 compute units, and each set of filters is a list of its own: ask for fewer by first, and filter one list.`,
});
