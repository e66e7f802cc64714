import { Counter, Gauge, type Registry } from 'prom-client';
import type { ComputeUnitLimit } from '../server/graphql/limits/compute-units.ts';
import type { Route } from '../server/http/observer.ts';
import type { CutReason } from '../server/http/unsent-limit.ts';
import type { SocketObserver } from '../server/websocket/observer.ts';

export const createHttpMetrics = (registry: Registry) => {
  const registers = [registry];
  const requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'HTTP requests, by route and class of status (none: the client disconnected first).',
    labelNames: ['route', 'status'],
    registers,
  });
  const inFlight = new Gauge({
    name: 'gateway_http_requests_in_flight',
    help: 'HTTP requests under way, including event streams.',
    registers,
  });
  return {
    started: () => inFlight.inc(),
    ended(route: Route, status: number | null): void {
      inFlight.dec();
      requests.inc({ route, status: status === null ? 'none' : `${Math.floor(status / 100)}xx` });
    },
  };
};

export const createSocketMetrics = (registry: Registry): Pick<SocketObserver, 'opened' | 'refused'> => {
  const registers = [registry];
  const open = new Gauge({
    name: 'gateway_websockets',
    help: 'Open WebSockets; MAX_SOCKETS limits them.',
    registers,
  });
  const refused = new Counter({
    name: 'gateway_websockets_refused_total',
    help: 'WebSocket upgrades that were rejected, by status: 400, 403 (origin or Host not allowed), 404, 501, 503 (too many), 505.',
    labelNames: ['status'],
    registers,
  });
  return {
    opened() {
      open.inc();
      return () => open.dec();
    },
    refused: (status) => refused.inc({ status: String(status) }),
  };
};

export const createEventMetrics = (registry: Registry) => {
  const executed = new Counter({
    name: 'gateway_events_executed_total',
    help: 'Events that were executed and serialised for subscriptions: once for all subscriptions with the same operation, variables and authorization.',
    registers: [registry],
  });
  return { executed: () => executed.inc() };
};

/** Counts operations that were rejected for their estimated cost. */
export const createBudgetMetrics = (registry: Registry) => {
  const rejections = new Counter({
    name: 'gateway_compute_unit_rejections_total',
    help: 'Operations rejected for their estimated cost before they ran, by limit: operation (MAX_COMPUTE_UNITS), client (CLIENT_COMPUTE_UNITS_PER_MINUTE).',
    labelNames: ['limit'],
    registers: [registry],
  });
  return (limit: ComputeUnitLimit) => rejections.inc({ limit });
};

/** Counts connections that were cut because their peers did not read. */
export const createCutMetrics = (registry: Registry) => {
  const cuts = new Counter({
    name: 'gateway_connections_cut_total',
    help: 'Connections of slow readers that were cut, by reason: stalled (the peer read nothing for half a minute, or for a minute where only an event waited), over_limit (all connections together left too much unsent).',
    labelNames: ['reason'],
    registers: [registry],
  });
  return (reason: CutReason): void => cuts.inc({ reason: reason === 'overLimit' ? 'over_limit' : reason });
};
