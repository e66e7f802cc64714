import type { AnyList } from '../upstream/list-loader.ts';
import { listLookup } from '../upstream/lookup.ts';
import { UNORDERED } from '../upstream/parse/list-order.ts';
import {
  type ListedRecord,
  nullable,
  type RecordTable,
  type RecordValue,
  required,
} from '../upstream/parse/record.ts';

/** A value may be any JSON. */
const ATTRIBUTE = {
  name: 'attribute',
  fields: { key: nullable('key', 'text'), value: nullable('value', 'text') },
} as const satisfies RecordTable;

const METADATA = {
  name: 'metadata',
  fields: {
    uri: nullable('uri', 'lenientString'),
    attributes: { from: 'attributes', records: ATTRIBUTE, mode: 'skipOthers' },
  },
} as const satisfies RecordTable;

const EXPLANATION = {
  name: 'explanation',
  fields: {
    featureName: required('feature', 'string'),
    value: nullable('value', 'json'),
    score: nullable('feature_score', 'number'),
    weight: nullable('feature_weight', 'number'),
  },
} as const satisfies RecordTable;

const COLLECTIBLE = {
  name: 'collectible',
  fields: {
    tokenStandardName: nullable('token_standard', 'string'),
    contractAddress: required('contract_address', 'address'),
    tokenId: required('token_id', 'integer'),
    chain: required('chain', 'string'),
    chainId: required('chain_id', 'chainId'),
    name: nullable('name', 'string'),
    description: nullable('description', 'string'),
    symbol: nullable('symbol', 'string'),
    imageUrl: nullable('image_url', 'string'),
    lastSalePrice: nullable('last_sale_price', 'decimal'),
    metadata: { from: 'metadata', record: METADATA, mode: 'lenientObject' },
    isSpam: nullable('is_spam', 'boolean'),
    spamScore: nullable('spam_score', 'number'),
    explanations: { from: 'explanations', records: EXPLANATION, mode: 'lenientOrNull' },
    balance: required('balance', 'integer'),
    lastAcquired: nullable('last_acquired', 'time'),
  },
} as const satisfies RecordTable;

type CollectiblesList = AnyList & { readonly includeSpam: boolean };

export const collectiblesLookup = listLookup({
  name: 'collectibles',
  path: ({ address }: CollectiblesList) => ['v1', 'evm', 'collectibles', address],
  query: ({ includeSpam }, details) => ({
    filter_spam: includeSpam ? 'false' : undefined,
    show_spam_scores: details.has('spamScores') ? 'true' : undefined,
  }),
  details: { spamScores: ['spamScore', 'explanations'] },
  price: { perChain: 1 },
  // The newest page is small because it is often the only one needed.
  pageSizes: { newest: 250, older: 2500 },
  maxItems: 5000,
  // They change rarely, and their request costs a compute unit for each chain.
  timesHead: 15,
  supportedAs: 'COLLECTIBLES',
  itemsField: 'entries',
  table: COLLECTIBLE,
  subject: 'owner',
  identity: ['chainId', 'contractAddress', 'tokenId'],
  // The contract promises no order.
  order: UNORDERED,
});

/** A collectible as clients see it: exact numbers are decimal strings. */
export type Collectible = ListedRecord<typeof COLLECTIBLE, 'owner'>;
export type Metadata = RecordValue<typeof METADATA>;
export type Attribute = RecordValue<typeof ATTRIBUTE>;
export type Explanation = RecordValue<typeof EXPLANATION>;
