/** What `evm-graphql-gateway/client` exports: docs/client.md says how to use it. It imports nothing, and runs in browsers and Node. */
export type * from './__generated__/documents.ts';
export {
  WalletActivity,
  WalletCollectibles,
  WalletDelivered,
  WalletDeliveries,
  WalletOverview,
  WalletPortfolio,
  WalletTransactions,
} from './__generated__/documents.ts';
export {
  compareDecimals,
  formatAmount,
  formatUnits,
  isUnlimited,
  parseUnits,
  sumDecimals,
} from './amounts.ts';
export { apolloCacheOptions } from './apollo.ts';
export { codesOf } from './codes.ts';
export { createEventStreams, type EventStreams } from './event-streams.ts';
export { follow } from './follow.ts';
export { graphcacheOptions } from './graphcache.ts';
export { createRefetching } from './refetching.ts';
export { keepPages } from './relay.ts';
export {
  reconnecting,
  resuming,
  type StreamMessage,
  type StreamPayload,
  type StreamSink,
  watchConnection,
} from './resuming.ts';
export { scalars } from './scalars.ts';
