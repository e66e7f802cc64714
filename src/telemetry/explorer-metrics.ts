import type { ExplorerFigures } from '../backend/explorer/figures.ts';
import type { Metrics } from './upstream-metrics.ts';

/** Shows what is known of the explorers that chains are read from. Counts are those since the service was started. */
export const createExplorerMetrics = ({ counter, gauge }: Metrics) => {
  /** `aggregator` is how the values of workers become one: what all of them share is no sum. */
  const gaugeOf = (
    name: string,
    help: string,
    valueIn: (figures: ExplorerFigures) => number | null,
    aggregator: 'sum' | 'min' | 'max' = 'sum',
  ) => {
    const metric = gauge({ name, help, labelNames: ['explorer'], aggregator });
    return (all: readonly ExplorerFigures[]): void => {
      metric.reset();
      for (const figures of all) {
        const value = valueIn(figures);
        if (value !== null) metric.set({ explorer: figures.explorer }, value);
      }
    };
  };
  const gauges = [
    gaugeOf(
      'gateway_explorer_credits_left',
      'Credits that the hosted API says are left for the key.',
      ({ credits }) => credits?.left ?? null,
      'min',
    ),
    gaugeOf(
      'gateway_explorer_credits_reset_seconds',
      'Time until it surely counts credits anew.',
      ({ credits }) => credits && secondsUntil(credits.resetAt),
      'max',
    ),
    gaugeOf(
      'gateway_explorer_requests_waiting',
      'Requests to an explorer that wait for their turn.',
      ({ requests }) => requests.waiting,
    ),
    gaugeOf(
      'gateway_explorer_requests_in_flight',
      'Requests to an explorer that are under way.',
      ({ requests }) => requests.underWay,
    ),
    gaugeOf(
      'gateway_explorer_requests_per_second',
      'The most requests that are sent to an explorer in a second, as it says, or as is assumed.',
      ({ perSecond }) => perSecond,
      'max',
    ),
  ];
  const pause = gauge({
    name: 'gateway_explorer_pause_seconds',
    help: 'Time until an explorer is asked again that is not asked now, by the reason: rateLimited, outOfCredits, blocked (403), badKey, noKey. It is absent while it is asked.',
    labelNames: ['explorer', 'reason'],
    aggregator: 'max',
  });
  const requests = counter({
    name: 'gateway_explorer_requests_total',
    help: 'Requests sent to explorers, including retries, by operation.',
    labelNames: ['explorer', 'operation'],
  });
  const credits = counter({
    name: 'gateway_explorer_credits_total',
    help: 'Credits of the hosted API that they took by its documentation, by operation.',
    labelNames: ['explorer', 'operation'],
  });
  return {
    show(all: readonly ExplorerFigures[]): void {
      for (const each of gauges) each(all);
      for (const each of [pause, requests, credits]) each.reset();
      for (const { explorer, pause: now, operations, credits: has } of all) {
        if (now !== null) pause.set({ explorer, reason: now.reason }, secondsUntil(now.until));
        for (const { operation, ...spent } of operations) {
          requests.inc({ explorer, operation }, spent.requests);
          if (has !== null) credits.inc({ explorer, operation }, spent.credits);
        }
      }
    },
    showSilence(): void {
      for (const each of gauges) each([]);
      pause.reset();
    },
  };
};

const secondsUntil = (time: number): number => Math.max(0, time - Date.now()) / 1000;
