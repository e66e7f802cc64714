import type { ChainFigures, IndexFigures } from '../backend/indexer/figures.ts';
import { createExplorerMetrics } from './explorer-metrics.ts';
import type { Metrics } from './upstream-metrics.ts';

/**
 * Shows what an index of chains says of itself. Its counts are those since it was started: after another start they begin at 0,
 * as those of any process.
 */
export const createIndexMetrics = (metrics: Metrics) => {
  const chains = createChainMetrics(metrics);
  const explorers = createExplorerMetrics(metrics);
  const deliveries = createDeliveryMetrics(metrics);
  const bytes = metrics.gauge({
    name: 'gateway_index_bytes',
    help: 'Bytes of the index on disk, by part: database, wal (its write-ahead log).',
    labelNames: ['part'],
  });
  return {
    show(figures: IndexFigures): void {
      chains.show(figures.chains);
      explorers.show(figures.explorers);
      deliveries.show(figures.deliveries);
      for (const [part, size] of Object.entries(figures.bytes)) bytes.set({ part }, size);
    },
    /** The index of these chains does not answer. What it has counted stays; of all else nothing is known. */
    showSilence(chainIds: readonly number[]): void {
      chains.showSilence(chainIds);
      explorers.showSilence();
      deliveries.showSilence();
      bytes.reset();
    },
  };
};

const createChainMetrics = ({ counter, gauge, tallies }: Metrics) => {
  const gaugeOf = (name: string, help: string, valueIn: (figures: ChainFigures) => number | null) => {
    const metric = gauge({ name, help, labelNames: ['chain'] });
    return (all: readonly ChainFigures[]): void => {
      metric.reset();
      for (const figures of all) {
        const value = valueIn(figures);
        if (value !== null) metric.set({ chain: String(figures.chainId) }, value);
      }
    };
  };
  const counterOf = (name: string, help: string, countIn: (figures: ChainFigures) => number) => {
    const metric = counter({ name, help, labelNames: ['chain'] });
    return (all: readonly ChainFigures[]): void => {
      metric.reset();
      for (const figures of all) metric.inc({ chain: String(figures.chainId) }, countIn(figures));
    };
  };

  const problem = gauge({
    name: 'gateway_index_problem',
    help: '1 while a chain is not followed, because its node fails or the index does not answer; else 0.',
    labelNames: ['chain'],
  });
  const gauges = [
    gaugeOf(
      'gateway_index_head',
      'Number of the newest block that a chain is known to have.',
      ({ index }) => index?.head ?? null,
    ),
    gaugeOf(
      'gateway_index_head_timestamp_seconds',
      'When that block was made, as the chain says.',
      ({ index }) => index && index.headTime / 1000,
    ),
    gaugeOf(
      'gateway_index_head_seen_timestamp_seconds',
      'When the node last said which block is the newest.',
      ({ headSeenAt }) => headSeenAt && headSeenAt / 1000,
    ),
    gaugeOf(
      'gateway_index_blocks_behind',
      'Blocks up to the newest one that are not indexed yet.',
      ({ index }) => index?.behind ?? null,
    ),
    gaugeOf(
      'gateway_index_traces_behind',
      'Indexed blocks that are not traced yet: their internal transfers are missing.',
      ({ index }) => index?.traces.behind ?? null,
    ),
    gaugeOf(
      'gateway_index_traces_problem',
      '1 while the node does not trace blocks, or one of them; else 0.',
      ({ index }) => index && Number(index.traces.problem !== null),
    ),
  ];
  const counters = [
    counterOf(
      'gateway_index_blocks_total',
      'Blocks that were indexed, including older ones and those that replace others after a reorg.',
      ({ added }) => added.blocks,
    ),
    counterOf(
      'gateway_index_transactions_total',
      'Transactions of those blocks.',
      ({ added }) => added.transactions,
    ),
  ];
  const calls = counter({
    name: 'gateway_index_node_calls_total',
    help: 'Attempts at calls of the node, by method and outcome: ok, refused (such as a contract that reverts, or a method that the node does not have), unavailable (no answer of JSON-RPC, or a failure that may pass, such as a rate limit).',
    labelNames: ['chain', 'method', 'outcome'],
  });
  const durations = tallies.histogram({
    name: 'gateway_index_node_call_duration_seconds',
    help: 'Time of those attempts, by method. Calls that are sent as one batch take the time of the batch.',
    labelNames: ['chain', 'method'],
    buckets: [],
  });

  return {
    show(all: readonly ChainFigures[]): void {
      for (const each of [...gauges, ...counters]) each(all);
      problem.reset();
      calls.reset();
      const ofMethods = all.flatMap(({ chainId, calls: each }) =>
        each.map((figures) => ({ ...figures, chain: String(chainId) })),
      );
      for (const each of all) problem.set({ chain: String(each.chainId) }, each.problem === null ? 0 : 1);
      for (const { chain, method, outcomes } of ofMethods)
        for (const [outcome, count] of Object.entries(outcomes)) calls.inc({ chain, method, outcome }, count);
      durations.show(
        ofMethods.map(({ chain, method, seconds }) => ({
          labels: { chain, method },
          distribution: seconds,
        })),
      );
    },
    showSilence(chainIds: readonly number[]): void {
      for (const each of gauges) each([]);
      for (const chainId of chainIds) problem.set({ chain: String(chainId) }, 1);
    },
  };
};

const createDeliveryMetrics = ({ counter, gauge }: Metrics) => {
  const pending = gauge({
    name: 'gateway_index_pending_deliveries',
    help: 'Deliveries of the index that their url has not accepted yet, of all webhooks.',
  });
  const oldest = gauge({
    name: 'gateway_index_oldest_pending_delivery_timestamp_seconds',
    help: 'When the oldest of these deliveries was queued, in seconds since 1970. It is absent while none is pending.',
  });
  const ends = counter({
    name: 'gateway_index_deliveries_total',
    help: 'Attempts at deliveries, by how they ended: accepted, retried (not accepted, and tried again later), abandoned (not accepted at the last retry); and deliveries that were dropped, because too many of their webhook were pending.',
    labelNames: ['outcome'],
  });
  const forget = (): void => {
    for (const each of [pending, oldest]) each.remove();
  };
  // A gauge without labels begins at 0.
  forget();
  return {
    show({ count, oldestAt, ended }: IndexFigures['deliveries']): void {
      forget();
      pending.set(count);
      if (oldestAt !== null) oldest.set(oldestAt / 1000);
      ends.reset();
      for (const [outcome, number] of Object.entries(ended)) ends.inc({ outcome }, number);
    },
    showSilence: forget,
  };
};
