import type { RawObject } from '../lib/json/exact-json.ts';
import type { ChainPricing, UpstreamRequest } from '../upstream/client/request.ts';
import { type IndexedList, SUBJECT } from '../upstream/kernel/compile-list.ts';
import {
  createListLoader,
  type ListLoader,
  type ListResource,
  type LoaderParts,
  type PageParameters,
} from '../upstream/list-loader.ts';
import { UNORDERED } from '../upstream/parse/list-order.ts';
import { createPageParser } from '../upstream/parse/page-parser.ts';
import {
  nullable,
  type RecordTable,
  type RecordValue,
  readRecord,
  required,
} from '../upstream/parse/record.ts';

/** The name of the resource in prices, cache keys, metrics and log lines. */
export const RESOURCE = 'collectibles';

/** A request costs the same whatever its size. A wallet's first page is small because it is often the only one needed. */
export const FIRST_PAGE_SIZE = 250;
export const PAGE_SIZE = 2500;

/** The number of requests for this many of a wallet's first collectibles, if upstream fills its pages. */
export const requestsFor = (collectibles: number): number => {
  const behindFirst = Math.max(0, collectibles - FIRST_PAGE_SIZE);
  return Math.min(1, collectibles) + Math.ceil(behindFirst / PAGE_SIZE);
};

/** Identifies the collectibles of a wallet under a chain filter and a spam filter. */
type CollectiblesList = {
  readonly address: string;
  /** Upstream's `chain_ids`: ids and tags, comma-separated; null for upstream's default. */
  readonly chains: string | null;
  readonly includeSpam: boolean;
};

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

/** The signals that the contract names, as GraphQL spells them. */
const SPAM_FEATURES = [
  'TRADE_VOLUME',
  'UNIQUE_BUYERS',
  'UNIQUE_SELLERS',
  'EXTERNALLY_FLAGGED',
  'IPFS_URI_PRESENT',
  'SUSPICIOUS_WORDS',
  'URL_SHORTENER_IN_URI',
] as const;

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

/** How pages of collectibles are indexed and written without being read. */
export const COLLECTIBLES = {
  itemsField: 'entries',
  table: COLLECTIBLE,
  identity: ['chainId', 'contractAddress', 'tokenId'],
  // The contract promises no order.
  order: UNORDERED,
  derived: {
    'Collectible.id': {
      kind: 'globalId',
      typeName: 'Collectible',
      parts: [SUBJECT, 'chainId', 'contractAddress', 'tokenId'],
    },
    'Collectible.tokenStandard': {
      kind: 'word',
      property: 'tokenStandardName',
      words: ['ERC721', 'ERC1155'],
      isCompact: true,
    },
    'SpamExplanation.feature': {
      kind: 'word',
      property: 'featureName',
      words: SPAM_FEATURES,
      isCompact: false,
    },
  },
} as const satisfies IndexedList;

/** A collectible as clients see it: exact numbers are decimal strings. */
export type Collectible = RecordValue<typeof COLLECTIBLE> & {
  readonly owner: string;
  /** Null for any other standard. */
  readonly tokenStandard: 'ERC721' | 'ERC1155' | null;
};

export type Metadata = RecordValue<typeof METADATA>;
export type Attribute = RecordValue<typeof ATTRIBUTE>;
export type Explanation = RecordValue<typeof EXPLANATION>;

/** `details` are spam scores and their explanations. */
const collectiblesRequest = (
  { address, chains, includeSpam }: CollectiblesList,
  { offset, limit, details }: PageParameters,
): Pick<UpstreamRequest, 'path' | 'query'> => {
  const query = new URLSearchParams({ limit: String(limit) });
  if (chains !== null) query.set('chain_ids', chains);
  if (offset !== null) query.set('offset', offset);
  if (includeSpam) query.set('filter_spam', 'false');
  if (details) query.set('show_spam_scores', 'true');
  return { path: ['v1', 'evm', 'collectibles', address], query };
};

const readFields = readRecord(COLLECTIBLE);

const readCollectible = (raw: RawObject, owner: string): Collectible => {
  const fields = readFields(raw);
  return { ...fields, owner, tokenStandard: knownStandard(fields.tokenStandardName) };
};

const knownStandard = (name: string | null): Collectible['tokenStandard'] => {
  const compact = name?.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return compact === 'ERC721' || compact === 'ERC1155' ? compact : null;
};

export const collectiblesParser = createPageParser<CollectiblesList, Collectible>(COLLECTIBLES, {
  ...COLLECTIBLES,
  read: (raw, { address }) => readCollectible(raw, address),
});

/** Its `details` are spam scores and their explanations. */
const collectibles = (pricing: ChainPricing): ListResource<CollectiblesList, Collectible> => ({
  name: RESOURCE,
  pageSize: (offset) => (offset === null ? FIRST_PAGE_SIZE : PAGE_SIZE),
  cost: ({ chains }) => pricing.priceOf(RESOURCE, chains),
  request: collectiblesRequest,
  parser: collectiblesParser,
  onBilled: ({ chains }, computeUnits) => pricing.record(RESOURCE, chains, computeUnits),
});

export type CollectiblesLoader = ListLoader<CollectiblesList, Collectible>;

type Parts = LoaderParts<CollectiblesList, Collectible> & { readonly pricing: ChainPricing };

export const createCollectiblesLoader = (parts: Parts): CollectiblesLoader =>
  createListLoader(parts, collectibles(parts.pricing));
