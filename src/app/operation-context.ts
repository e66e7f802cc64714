import { createChains } from '../chains/chains.ts';
import { createContext } from '../context.ts';
import type { Answers } from '../graph/answer/answer.ts';
import { createCursors } from '../graph/pagination/cursor.ts';
import type { Deliveries } from './deliveries.ts';
import type { Startup } from './startup.ts';
import type { Upstream } from './upstream.ts';
import type { WatchedTransactions } from './watched-transactions.ts';

/** The deadline of an operation, in upstream timeouts: all its upstream requests and their retries share it. */
const TIMEOUTS_AN_OPERATION = 3;

/** Creates the contexts of operations from the started parts. `publicUrl` is called once the gateway listens. */
export const createOperationContext = (
  { config, now, telemetry }: Startup,
  { client, kernel, stores, sharedPages, sharedLimits, pricing, subscribed }: Upstream,
  { log, changeNotifier, feedCache, deliveryUrls, identity }: Deliveries,
  answers: Answers,
  watched: WatchedTransactions | null,
  publicUrl: () => string,
) =>
  createContext({
    answers,
    client,
    kernel,
    stores,
    sharedPages,
    freshness: {
      transactions: config.cache,
      collectibles: { ...config.cache, headMs: config.cache.collectiblesMs },
    },
    watchedTransactions: watched?.lists ?? null,
    delivered: watched?.delivered ?? null,
    operationMs: config.upstream.timeoutMs * TIMEOUTS_AN_OPERATION,
    maxComputeUnits: config.cost.maxComputeUnits,
    pricing,
    chains: createChains(config.extraChains),
    log,
    changeNotifier,
    feedCache,
    readerObserver: telemetry.readers,
    deliveryUrls,
    subscribed,
    maxWatchedWallets: config.maxWatchedWallets,
    cursorsOf: createCursors(identity),
    publicUrl,
    sharedKeys: sharedLimits?.keys ?? null,
    now,
  });
