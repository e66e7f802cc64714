import { Counter, Gauge, type Registry } from 'prom-client';
import type { ComputeUnitLimit } from '../server/graphql/limits/compute-units.ts';
import type { HttpObserver } from '../server/http/observer.ts';
import type { EventObserver } from '../server/subscriptions/frame.ts';
import type { SocketObserver } from '../server/websocket/server.ts';

export const createHttpMetrics = (registry: Registry): HttpObserver => {
  const registers = [registry];
  const requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'HTTP requests, by route and class of status (none: the client went away first).',
    labelNames: ['route', 'status'],
    registers,
  });
  const inFlight = new Gauge({
    name: 'gateway_http_requests_in_flight',
    help: 'HTTP requests under way now, event streams included.',
    registers,
  });
  return {
    began: () => inFlight.inc(),
    ended(route, status) {
      inFlight.dec();
      requests.inc({ route, status: status === null ? 'none' : `${Math.floor(status / 100)}xx` });
    },
  };
};

export const createSocketMetrics = (registry: Registry): SocketObserver => {
  const registers = [registry];
  const open = new Gauge({
    name: 'gateway_websockets',
    help: 'WebSockets open now; MAX_SOCKETS bounds them.',
    registers,
  });
  const refused = new Counter({
    name: 'gateway_websockets_refused_total',
    help: 'WebSockets that were refused, by status: 403 (a foreign origin), 404 and 503 (too many).',
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

export const createEventMetrics = (registry: Registry): EventObserver => {
  const executed = new Counter({
    name: 'gateway_events_executed_total',
    help: 'Events that were executed and serialised for subscriptions: each once for all that have the same operation, variables and rights.',
    registers: [registry],
  });
  return { executed: () => executed.inc() };
};

/** Of operations that were refused for what they may cost. */
export const createBudgetMetrics = (registry: Registry) => {
  const refusals = new Counter({
    name: 'gateway_compute_unit_refusals_total',
    help: 'Operations refused before they ran for what they may cost, by limit: operation (MAX_COMPUTE_UNITS), client (CLIENT_COMPUTE_UNITS_PER_MINUTE).',
    labelNames: ['limit'],
    registers: [registry],
  });
  return (limit: ComputeUnitLimit) => refusals.inc({ limit });
};
