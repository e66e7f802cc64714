import type { Holding } from '../chain/holdings.ts';
import type { Collection } from '../evm/collections.ts';
import type { Route, SandboxResponse } from '../http/route.ts';
import { json } from '../http/route.ts';
import type { Hex } from '../types.ts';
import { collectibleItem } from './collectible-item.ts';
import { isoTime, lookupRoute } from './lookup.ts';
import { chainChoice, flag, limit, offset } from './query.ts';
import { judge, type Verdict } from './spam.ts';
import type { LookupOptions } from './transactions.ts';

const USUAL = 250;
const MOST = 2_500;

export type CollectiblesOptions = LookupOptions & {
  /** Where the sandbox serves images, without a trailing slash. */
  readonly baseUrl: () => string;
};

type Judged = { readonly holding: Holding; readonly collection: Collection; readonly verdict: Verdict };

/** One compute unit for each chain that is looked at. */
export const createCollectiblesRoute = ({ simulator, cursors, now, baseUrl }: CollectiblesOptions): Route => {
  /** A wallet holds many tokens of few collections: each collection is judged once. */
  const judging = () => {
    const verdicts = new Map<Collection, Verdict>();
    return (holding: Holding): readonly Judged[] => {
      const collection = simulator.collection(holding.token.chain.id, holding.token.address);
      if (collection === null) return [];
      const verdict = verdicts.get(collection) ?? judge(collection, now());
      verdicts.set(collection, verdict);
      return [{ holding, collection, verdict }];
    };
  };

  const answer = (wallet: Hex, query: URLSearchParams): SandboxResponse => {
    const requestedAt = now();
    const { chains, unsupported } = chainChoice(query);
    const filterSpam = flag(query, 'filter_spam', true);
    const explain = flag(query, 'show_spam_scores', false);
    const count = limit(query, USUAL, MOST);
    if (unsupported.length > 0) return json(404, { error: 'Chain not supported' });

    const chainIds = new Set(chains.map((chain) => chain.id));
    const scope = ['collectibles', wallet, filterSpam, ...[...chainIds].sort((a, b) => a - b)];
    const after = cursors.read(scope, offset(query))?.order ?? Number.POSITIVE_INFINITY;
    const found = simulator
      .holdings(wallet)
      .filter(({ slot, token }) => slot < after && chainIds.has(token.chain.id))
      .flatMap(judging())
      .filter(({ verdict }) => !filterSpam || !verdict.isSpam);
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
