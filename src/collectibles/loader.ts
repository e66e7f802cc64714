import type { Item } from '../upstream/items.ts';
import { createListLoader, type ListLoader, type LoaderParts } from '../upstream/list-loader.ts';
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

export type CollectiblesLoader = ListLoader<CollectiblesList, Item<Collectible>>;

/** Details of a page are its spam scores and their explanations. */
export const createCollectiblesLoader = (parts: LoaderParts<Item<Collectible>>): CollectiblesLoader =>
  createListLoader(parts, {
    name: 'collectibles',
    limit: (offset) => (offset === null ? FIRST_PAGE_SIZE : PAGE_SIZE),
    async fetch(list, { offset, limit, details }) {
      const fetchedAt = Date.now();
      const { credential } = parts;
      const request = collectiblesRequest({ ...list, offset, limit, spamScores: details, credential });
      const { body, bytes } = await parts.client.request(request);
      return { page: readCollectiblesPage(body, list.address, fetchedAt), bytes };
    },
  });
