import { isObject, type RawObject } from '../lib/json/raw-object.ts';
import type { Page } from '../upstream/cache/page-cache.ts';
import type { UpstreamRequest } from '../upstream/client/request.ts';
import type { PageParameters } from '../upstream/list-loader.ts';
import {
  optional,
  readAddress,
  readBoolean,
  readChainId,
  readDecimal,
  readInteger,
  readJson,
  readList,
  readNumber,
  readString,
  readTime,
} from '../upstream/parse/fields.ts';
import { type PageItem, parsePage } from '../upstream/parse/page-parser.ts';

/** A request costs the same whatever its size. A wallet's first page is small because it is often the only one needed. */
export const FIRST_PAGE_SIZE = 250;
export const PAGE_SIZE = 2500;

/** The number of requests for a wallet's first so many collectibles when upstream fills its pages. */
export const requestsFor = (collectibles: number): number => {
  const behindFirst = Math.max(0, collectibles - FIRST_PAGE_SIZE);
  return Math.min(1, collectibles) + Math.ceil(behindFirst / PAGE_SIZE);
};

/** Identifies the collectibles of a wallet under a chain filter and a spam filter. */
export type CollectiblesList = {
  readonly address: string;
  /** Upstream's `chain_ids`: ids and tags, comma-separated; null for upstream's default. */
  readonly chains: string | null;
  readonly includeSpam: boolean;
};

/** A collectible as clients see it: exact numbers are decimal strings. */
export type Collectible = {
  readonly owner: string;
  readonly contractAddress: string;
  readonly tokenStandard: 'ERC721' | 'ERC1155' | null;
  readonly tokenStandardName: string | null;
  readonly tokenId: string;
  readonly chain: string;
  readonly chainId: number;
  readonly name: string | null;
  readonly description: string | null;
  readonly symbol: string | null;
  readonly imageUrl: string | null;
  readonly lastSalePrice: string | null;
  readonly metadata: Metadata | null;
  readonly isSpam: boolean | null;
  readonly spamScore: number | null;
  readonly explanations: readonly Explanation[] | null;
  readonly balance: string;
  readonly lastAcquired: string | null;
};

export type Metadata = { readonly uri: string | null; readonly attributes: readonly Attribute[] };
export type Attribute = { readonly key: string | null; readonly value: string | null };

export type Explanation = {
  readonly featureName: string;
  readonly value: unknown;
  readonly score: number | null;
  readonly weight: number | null;
};

/** `details` are spam scores and their explanations. */
export const collectiblesRequest = (
  { address, chains, includeSpam }: CollectiblesList,
  { offset, limit, details }: PageParameters,
): Pick<UpstreamRequest, 'path' | 'query'> => {
  const query = new URLSearchParams({ limit: String(limit) });
  if (chains !== null) query.set('chain_ids', chains);
  if (offset !== null) query.set('offset', offset);
  if (includeSpam) query.set('filter_spam', 'false');
  if (details) query.set('show_spam_scores', 'true');
  return { path: `/v1/evm/collectibles/${address}`, query };
};

/** Rejects with UpstreamError `invalidResponse` when the body is not the envelope of the contract. */
export const readCollectiblesPage = (
  body: unknown,
  { address }: CollectiblesList,
  limit: number,
  fetchedAt: number,
): Promise<Page<PageItem<Collectible>>> =>
  parsePage(
    body,
    {
      entriesField: 'entries',
      maxEntries: limit,
      read: (raw) => readCollectible(raw, address),
      identity: ({ chainId, contractAddress, tokenId }) => `${chainId}:${contractAddress}:${tokenId}`,
      // The contract promises no order, so no time can place an entry in the list.
      time: () => null,
    },
    fetchedAt,
  );

const readCollectible = (raw: RawObject, owner: string): Collectible => {
  const standard = optional(readString)(raw, 'token_standard');
  return {
    owner,
    contractAddress: readAddress(raw, 'contract_address'),
    tokenStandard: knownStandard(standard),
    tokenStandardName: standard,
    tokenId: readInteger(raw, 'token_id'),
    chain: readString(raw, 'chain'),
    chainId: readChainId(raw, 'chain_id'),
    name: optional(readString)(raw, 'name'),
    description: optional(readString)(raw, 'description'),
    symbol: optional(readString)(raw, 'symbol'),
    imageUrl: optional(readString)(raw, 'image_url'),
    lastSalePrice: optional(readDecimal)(raw, 'last_sale_price'),
    metadata: isObject(raw.metadata) ? readMetadata(raw.metadata) : null,
    isSpam: optional(readBoolean)(raw, 'is_spam'),
    spamScore: optional(readNumber)(raw, 'spam_score'),
    explanations: Array.isArray(raw.explanations)
      ? raw.explanations.filter(isObject).map(readExplanation)
      : null,
    balance: readInteger(raw, 'balance'),
    lastAcquired: optional(readTime)(raw, 'last_acquired'),
  };
};

const knownStandard = (name: string | null): Collectible['tokenStandard'] => {
  const compact = name?.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return compact === 'ERC721' || compact === 'ERC1155' ? compact : null;
};

const readMetadata = (raw: RawObject): Metadata => ({
  uri: typeof raw.uri === 'string' ? raw.uri : null,
  attributes: readList(raw, 'attributes')
    .filter(isObject)
    .map((attribute) => ({
      key: asText(readJson(attribute, 'key')),
      value: asText(readJson(attribute, 'value')),
    })),
});

/** Attribute values may be any JSON. A value that is not a string becomes its JSON text. */
const asText = (value: unknown): string | null => {
  if (value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const readExplanation = (raw: RawObject): Explanation => ({
  featureName: readString(raw, 'feature'),
  value: readJson(raw, 'value'),
  score: optional(readNumber)(raw, 'feature_score'),
  weight: optional(readNumber)(raw, 'feature_weight'),
});
