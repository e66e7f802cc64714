import { createChains } from '../chains/chains.ts';
import { createContext } from '../context.ts';
import type { Answers } from '../graph/answer/answer.ts';
import { createCursors } from '../graph/pagination/cursor.ts';
import type { Deliveries } from './deliveries.ts';
import type { Startup } from './startup.ts';
import type { Upstream } from './upstream.ts';

/** One deadline for all that an operation asks, in attempts that take as long as one may. */
const ATTEMPTS_AN_OPERATION_WAITS_FOR = 3;

/** Gives operations what the parts that are started have for them. `publicUrl` is known once the gateway listens. */
export const createOperationContext = (
  { config, now, telemetry }: Startup,
  { client, stores, pricing, subscribed }: Upstream,
  { log, changeNotifier, feedCache, deliveryUrls, secret }: Deliveries,
  answers: Answers,
  publicUrl: () => string,
) =>
  createContext({
    answers,
    client,
    stores,
    freshness: {
      transactions: config.cache,
      collectibles: { ...config.cache, headMs: config.cache.collectiblesMs },
    },
    operationMs: config.upstream.timeoutMs * ATTEMPTS_AN_OPERATION_WAITS_FOR,
    maxComputeUnits: config.cost.maxComputeUnits,
    pricing,
    chains: createChains(config.extraChains),
    log,
    changeNotifier,
    feedCache,
    readerObserver: telemetry.readers,
    deliveryUrls,
    subscribed,
    cursorsOf: createCursors(secret),
    publicUrl,
    now,
  });
