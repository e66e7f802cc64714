import type { ChainPricing } from '../upstream/chain-pricing.ts';
import { createListLoader, type ListLoader, type LoaderParts } from '../upstream/list-loader.ts';
import type { PageItem } from '../upstream/parse/page-parser.ts';
import {
  type Collectible,
  collectiblesRequest,
  FIRST_PAGE_SIZE,
  PAGE_SIZE,
  readCollectiblesPage,
} from './rest.ts';

type CollectiblesList = {
  readonly address: string;
  /** The service's own parameter: ids and tags, comma-separated; null for its default. */
  readonly chains: string | null;
  readonly includeSpam: boolean;
};

export type CollectiblesLoader = ListLoader<CollectiblesList, PageItem<Collectible>>;

type Parts = LoaderParts<PageItem<Collectible>> & { readonly pricing: ChainPricing };

/** Details of a page are its spam scores and their explanations. */
export const createCollectiblesLoader = (parts: Parts): CollectiblesLoader =>
  createListLoader(parts, {
    name: 'collectibles',
    limit: (offset) => (offset === null ? FIRST_PAGE_SIZE : PAGE_SIZE),
    fetch: (list) => async (want, signal) => {
      const { offset, limit, details } = want;
      const fetchedAt = Date.now();
      const { credential, pricing } = parts;
      const cost = pricing.priceOf(list.chains);
      const request = collectiblesRequest({ ...list, offset, limit, spamScores: details, credential, cost });
      const { body, bytes, computeUnits } = await parts.client.request(request, signal);
      pricing.record(list.chains, computeUnits);
      const page = await readCollectiblesPage(body, list.address, limit, fetchedAt);
      return { page, bytes, computeUnits };
    },
  });
