import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { viewField } from '../../graph/plan/plannable.ts';
import { listLookup } from '../../upstream/lookup.ts';
import { descendingBy } from '../../upstream/parse/list-order.ts';
import { type ListedRecord, nullable, type RecordTable, required } from '../../upstream/parse/record.ts';
import { listField } from '../list-field.ts';
import { Wallet } from '../wallet.ts';
import { Token, textOf } from './token.ts';

const HOLDER = {
  name: 'holder',
  fields: {
    wallet: required('wallet_address', 'address'),
    balance: required('balance', 'integer'),
    share: nullable('share', 'decimal'),
    firstAcquired: nullable('first_acquired', 'time'),
    hasInitiatedTransfer: nullable('has_initiated_transfer', 'boolean'),
  },
} as const satisfies RecordTable;

type HoldersList = {
  /** The chain's id and the token's address, with a colon between. */
  readonly address: string;
};

const holdersLookup = listLookup({
  name: 'holders',
  path: ({ address }: HoldersList) => ['v1', 'evm', 'token-holders', ...address.split(':')],
  details: {},
  price: { perRequest: 2 },
  pageSizes: { newest: 500, older: 500 },
  maxItems: 5000,
  // A page costs two compute units, and says little about a moment.
  timesHead: 60,
  supportedAs: 'TOKEN_HOLDERS',
  itemsField: 'holders',
  table: HOLDER,
  subject: 'token',
  identity: ['wallet'],
  order: descendingBy('balance'),
  // The service's prose and its specification differ.
  otherNames: { wallet_address: 'address' },
  bodyOfAbsent: '{"holders":[]}',
});

type TokenHolderShape = ListedRecord<typeof HOLDER, 'token'>;

const TokenHolder = builder.objectRef<TokenHolderShape>('TokenHolder').implement({
  description: 'A holder of a token. Contracts, pools and burn addresses are holders like any other.',
  fields: (t) => ({
    wallet: t.field({
      type: Wallet,
      description: 'The wallet of the holder. It causes no request by itself.',
      ...viewField<TokenHolderShape, typeof Wallet.$inferType>({ address: 'wallet' }),
    }),
    balance: t.expose('balance', {
      type: 'BigInt',
      description: "What it holds, in the token's smallest unit.",
    }),
    share: t.expose('share', { type: 'Decimal', ...nullIfOmitted('Its part of the supply, as a fraction.') }),
    firstAcquired: t.expose('firstAcquired', {
      type: 'DateTime',
      ...nullIfOmitted('When it first acquired the token.'),
    }),
    hasInitiatedTransfer: t.exposeBoolean(
      'hasInitiatedTransfer',
      nullIfOmitted('Whether it ever sent the token.'),
    ),
  }),
});

export const holders = listField(Token, holdersLookup, {
  item: TokenHolder,
  items: "a token's holders",
  description:
    'The holders of the token, largest first: 2 compute units for each 500. A holder whose balance changes while a client reads page after page may be missing, but comes once within one page. Where balances change without events, `partialErrors` says that holders may be missing. Null for the native asset, and without an error when the service does not know the token; null, with an error, when the lookup fails or does not support the chain.',
  args: {},
  list: ({ chainId, address }) => (address == null ? null : { address: textOf({ chainId, address }) }),
  chainOf: ({ chainId }) => chainId,
  isNullIfEmpty: true,
  advice:
    'Holders cost 2 compute units for each 500 of each token: ask for fewer, or of the tokens that you name in Query.tokens.',
});
