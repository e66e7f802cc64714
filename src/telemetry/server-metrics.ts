import type { ComputeUnitLimit } from '../server/graphql/limits/compute-units.ts';
import type { OperationObserver } from '../server/graphql/observe.ts';
import type { HttpObserver } from '../server/http/exchange.ts';
import type { ConnectionObserver } from '../server/http/unsent-limit.ts';
import type { EventObserver } from '../server/subscriptions/frame.ts';
import type { SocketObserver } from '../server/websocket/connection.ts';
import type { Sink } from './combine.ts';
import { WORKER_EXITS } from './sum.ts';
import { createOnce } from './tallies.ts';
import { inSnakeCase, type Metrics } from './upstream-metrics.ts';

/** Says which versions of the gateway and of Node run. */
export const createBuildInfo = ({ gauge }: Metrics, version: string): void => {
  const info = gauge({
    name: 'gateway_build_info',
    help: 'Always 1: its labels have the version of the gateway, and that of Node.',
    labelNames: ['version', 'node'],
    aggregator: 'max',
  });
  info.set({ version, node: process.versions.node }, 1);
};

/** Counts the processes of a machine: those of its workers, or this one. The primary of workers adds their ends. */
export const createWorkerMetrics = ({ counter, gauge }: Metrics): void => {
  const workers = gauge({
    name: 'gateway_workers',
    help: 'Processes that answer requests: 1, or as many of WORKERS as run and answer.',
  });
  workers.set(1);
  counter(WORKER_EXITS);
};

export const createHttpMetrics = ({ gauge, tallies }: Metrics): Sink<HttpObserver> => {
  const requests = tallies.counter({
    name: 'gateway_http_requests_total',
    help: 'HTTP requests, by route and class of status (none: the client disconnected first).',
    labelNames: ['route', 'status'],
  });
  const inFlight = gauge({
    name: 'gateway_http_requests_in_flight',
    help: 'HTTP requests under way, including event streams.',
  });
  const countOf = createOnce((route: string) =>
    createOnce((kind: number) => requests.add({ route, status: kind === 0 ? 'none' : `${kind}xx` })),
  );
  return {
    started: () => inFlight.inc(),
    ended(route, status) {
      inFlight.dec();
      countOf(route)(Math.floor((status ?? 0) / 100)).value += 1;
    },
  };
};

export const createSocketMetrics = ({ counter, gauge }: Metrics): Sink<SocketObserver> => {
  const open = gauge({ name: 'gateway_websockets', help: 'Open WebSockets; MAX_SOCKETS limits them.' });
  const refused = counter({
    name: 'gateway_websockets_refused_total',
    help: 'WebSocket upgrades that were rejected, by status: 400, 403 (origin or Host not allowed), 404, 501, 503 (too many), 505.',
    labelNames: ['status'],
  });
  return {
    opened() {
      open.inc();
      return () => open.dec();
    },
    refused: (status) => refused.inc({ status: String(status) }),
  };
};

export const createEventMetrics = ({ counter }: Metrics): Sink<EventObserver> => {
  const executed = counter({
    name: 'gateway_events_executed_total',
    help: 'Events that were executed and serialised for subscriptions: once for all subscriptions with the same operation, variables and authorization.',
  });
  return { executed: () => executed.inc() };
};

/** Counts operations that were rejected for their estimated cost. */
export const createBudgetMetrics = ({ counter }: Metrics) => {
  const rejections = counter({
    name: 'gateway_compute_unit_rejections_total',
    help: 'Operations rejected for their estimated cost before they ran, by limit: operation (MAX_COMPUTE_UNITS), client (CLIENT_COMPUTE_UNITS_PER_MINUTE).',
    labelNames: ['limit'],
  });
  return (limit: ComputeUnitLimit) => rejections.inc({ limit });
};

/** Counts connections that were cut because their peers did not read. */
export const createConnectionMetrics = ({ counter }: Metrics): Sink<ConnectionObserver> => {
  const cuts = counter({
    name: 'gateway_connections_cut_total',
    help: 'Connections of slow readers that were cut, by reason: stalled (the peer read nothing for a minute), over_limit (all connections together left too much unsent).',
    labelNames: ['reason'],
  });
  return { cut: (reason) => cuts.inc({ reason: inSnakeCase(reason) }) };
};

export const createOperationMetrics = ({ counter, gauge, tallies }: Metrics): Sink<OperationObserver> => {
  const operations = tallies.counter({
    name: 'gateway_operations_total',
    help: 'Operations answered, by type (none: rejected before it was known), transport, and the code of their first error (OK: no error; ABANDONED: the client completed the operation or disconnected first). A subscription counts when it starts or is rejected.',
    labelNames: ['type', 'transport', 'code'],
  });
  const duration = tallies.histogram({
    name: 'gateway_operation_duration_seconds',
    help: 'Time that operations ran, by type and transport; for subscriptions, until the first event could be sent.',
    labelNames: ['type', 'transport'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const unchangedAnswers = counter({
    name: 'gateway_unchanged_answers_total',
    help: 'Operations whose client had the answer already (304), by what was compared: pages (each page was the same, and nothing was executed), data (the answer was made anew, and was the same).',
    labelNames: ['compared'],
  });
  const eventStreams = gauge({
    name: 'gateway_event_streams',
    help: 'Open subscriptions over HTTP, as server-sent events or in parts.',
  });

  const countOf = createOnce((type: string) =>
    createOnce((transport: string) =>
      createOnce((code: string) => operations.add({ type, transport, code })),
    ),
  );
  const durationOf = createOnce((type: string) =>
    createOnce((transport: string) => duration.add({ type, transport })),
  );
  return {
    answered({ type, transport, codes: [first = 'OK'], abandoned, durationMs, unchanged }) {
      countOf(type)(transport)(abandoned ? 'ABANDONED' : first).value += 1;
      if (durationMs !== null) durationOf(type)(transport).observe(durationMs / 1000);
      if (unchanged !== null) unchangedAnswers.inc({ compared: unchanged });
    },
    streaming() {
      eventStreams.inc();
      return () => eventStreams.dec();
    },
  };
};
