import type { ChainPricing } from '../upstream/chain-pricing.ts';
import {
  createListLoader,
  type ListLoader,
  type ListResource,
  type LoaderParts,
} from '../upstream/list-loader.ts';
import {
  type Collectible,
  type CollectiblesList,
  collectiblesParser,
  collectiblesRequest,
  FIRST_PAGE_SIZE,
  PAGE_SIZE,
  RESOURCE,
} from './rest.ts';

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
