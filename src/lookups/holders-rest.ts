import { listLookup } from '../upstream/list-lookup.ts';
import { descendingBy } from '../upstream/parse/list-order.ts';
import { type ListedRecord, nullable, type RecordTable, required } from '../upstream/parse/record.ts';

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

export const holdersLookup = listLookup({
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

export type TokenHolder = ListedRecord<typeof HOLDER, 'token'>;
