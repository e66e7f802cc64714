import type { Holding } from '../chain/holdings.ts';
import type { Collection } from '../evm/collections.ts';
import type { Route, SandboxResponse } from '../http/route.ts';
import { json } from '../http/route.ts';
import type { Hex } from '../types.ts';
import { collectibleItem } from './collectible-item.ts';
import { isoTime, lookupRoute } from './lookup.ts';
import { chainChoice, flag, limit, offset } from './query.ts';
import { type Classification, classify } from './spam.ts';
import type { LookupOptions } from './transactions.ts';

const DEFAULT_LIMIT = 250;
const MAX_LIMIT = 2_500;

export type CollectiblesOptions = LookupOptions & {
  /** The base URL of the sandbox's images, without a trailing slash. */
  readonly baseUrl: () => string;
};

type ClassifiedHolding = {
  readonly holding: Holding;
  readonly collection: Collection;
  readonly classification: Classification;
};

/** The collectibles lookup. It costs one compute unit for each requested chain. */
export const createCollectiblesRoute = ({ simulator, cursors, now, baseUrl }: CollectiblesOptions): Route => {
  /** A wallet holds many tokens of few collections, so each collection is classified once. */
  const createClassifier = () => {
    const classifications = new Map<Collection, Classification>();
    return (holding: Holding): readonly ClassifiedHolding[] => {
      const collection = simulator.collection(holding.token.chain.id, holding.token.address);
      if (collection === null) return [];
      const classification = classifications.get(collection) ?? classify(collection, now());
      classifications.set(collection, classification);
      return [{ holding, collection, classification }];
    };
  };

  const answer = (wallet: Hex, query: URLSearchParams): SandboxResponse => {
    const requestedAt = now();
    const { chains, unsupported } = chainChoice(query);
    const filterSpam = flag(query, 'filter_spam', true);
    const explain = flag(query, 'show_spam_scores', false);
    const count = limit(query, DEFAULT_LIMIT, MAX_LIMIT);
    if (unsupported.length > 0) return json(404, { error: 'Chain not supported' });

    const chainIds = new Set(chains.map((chain) => chain.id));
    const scope = ['collectibles', wallet, filterSpam, ...[...chainIds].sort((a, b) => a - b)];
    const after = cursors.read(scope, offset(query))?.order ?? Number.POSITIVE_INFINITY;
    const found = simulator
      .holdings(wallet)
      .filter(({ slot, token }) => slot < after && chainIds.has(token.chain.id))
      .flatMap(createClassifier())
      .filter(({ classification }) => !filterSpam || !classification.isSpam);
    const page = found.slice(0, count);
    const last = page.at(-1)?.holding;
    const body = {
      address: wallet,
      entries: page.map((each) => collectibleItem({ ...each, explain, baseUrl: baseUrl() })),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
      ...(last !== undefined &&
        found.length > count && { next_offset: cursors.issue(scope, { time: 0, order: last.slot }) }),
    };
    return json(200, body, chainIds.size);
  };
  return lookupRoute({
    prefix: '/v1/evm/collectibles/',
    errorMember: 'error',
    answer: (wallet, { query }) => answer(wallet, query),
  });
};
