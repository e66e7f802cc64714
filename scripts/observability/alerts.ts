import { readConfig } from '../../src/config/config.ts';

/** An alert, for Prometheus and for docs/metrics.md. */
export type Alert = {
  readonly name: string;
  /** What Prometheus evaluates. A result of any value is a reason. */
  readonly expression: string;
  /** How long there is a result before the alert fires. */
  readonly for: `${number}m`;
  /** `critical` is for now: deliveries or lookups fail. `warning` is for the next day. */
  readonly severity: 'critical' | 'warning';
  /** The expression in words, in Markdown. */
  readonly when: string;
  /** What it means, and what to look at, in Markdown. */
  readonly because: string;
};

/** The expressions are about one gateway, where nothing else is said. */
const EACH = 'job, instance';

/**
 * Whether a counter has counted in the last five minutes. `increase` does not see the first count of a label, since there
 * was no sample of 0 before it: the second half does.
 */
const counted = (counter: string): string =>
  `sum by (${EACH}) (increase(${counter}[5m])) > 0 or sum by (${EACH}) (${counter} unless ${counter} offset 5m) > 0`;

const rate = (counter: string, window: string, by: string): string =>
  `sum by (${by}) (rate(${counter}[${window}]))`;

const p99 = (histogram: string): string =>
  `histogram_quantile(0.99, ${rate(`${histogram}_bucket`, '5m', `${EACH}, le`)})`;

/** The part of a counter's growth that some of its labels have, by these labels. */
const share = (counter: string, matchers: string, by: string, of: string): string =>
  `${rate(`${counter}{${matchers}}`, '5m', by)} / on (${of}) group_left () ${rate(counter, '5m', of)}`;

const defaults = readConfig({});

/** Where the number of a plan or of a machine has to take the place of the table's. */
const LIMITS = {
  computeUnitsAnHour: 10_000,
  residentBytes: 1_000_000_000,
  sockets: defaults.maxSockets * 0.9,
  /** Half of what may wait before deliveries are refused. */
  pendingBytes: 32 * 1024 * 1024,
  lagDeliveries: 100,
  /** Of all requests to one resource. */
  failedRequests: 0.2,
  /** Of all operations. */
  failedOperations: 0.05,
  /** Of all deliveries. */
  failedDeliveries: 0.05,
  operationSeconds: 2.5,
  upstreamSeconds: 2.5,
  deliverySeconds: 1,
  redisSeconds: 0.25,
};

const STORED = 'gateway_deliveries_total{outcome="stored"}';
const LAG = 'gateway_reader_lag_deliveries';

export const ALERTS: readonly Alert[] = [
  {
    name: 'GatewayDown',
    expression: 'up{job="gateway"} == 0',
    for: '1m',
    severity: 'critical',
    when: "Prometheus' own `up` is 0 for the job `gateway`",
    because: 'the gateway does not answer `/metrics`: it has ended, hangs, or is not reached',
  },
  {
    name: 'GatewayUpstreamDown',
    expression: 'gateway_upstream_circuit_breaker_open == 1',
    for: '1m',
    severity: 'critical',
    when: '`gateway_upstream_circuit_breaker_open` of a resource is 1',
    because: 'that resource is down: cached pages are served stale-if-error, for CACHE_STALE_MS at most',
  },
  {
    name: 'GatewayUpstreamFailing',
    expression: `${share('gateway_upstream_requests_total', 'outcome=~"unavailable|timeout|invalidResponse"', `${EACH}, resource`, `${EACH}, resource`)} > ${LIMITS.failedRequests}`,
    for: '5m',
    severity: 'critical',
    when: 'of the requests of a resource that `gateway_upstream_requests_total` counts, more than a fifth end as `unavailable`, `timeout` or `invalidResponse`',
    because: 'the service fails for that resource, whatever the others do: its log lines have the statuses',
  },
  {
    name: 'GatewayUpstreamSlow',
    expression: `histogram_quantile(0.99, ${rate('gateway_upstream_request_duration_seconds_bucket', '5m', `${EACH}, resource, le`)}) > ${LIMITS.upstreamSeconds}`,
    for: '10m',
    severity: 'warning',
    when: `the 99th percentile of \`gateway_upstream_request_duration_seconds\` of a resource is above ${LIMITS.upstreamSeconds}`,
    because: 'the service is slow for that resource',
  },
  {
    name: 'GatewayOperationsFailing',
    expression: `${share('gateway_operations_total', 'code=~"LOG_.+|QUOTA_EXCEEDED|RATE_LIMITED|UPSTREAM_(UNAVAILABLE|TIMEOUT|INVALID_RESPONSE)"', `${EACH}, code`, EACH)} > ${LIMITS.failedOperations}`,
    for: '5m',
    severity: 'critical',
    when: 'of the operations that `gateway_operations_total` counts, more than a twentieth have a code that is not their fault: UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, UPSTREAM_INVALID_RESPONSE, QUOTA_EXCEEDED, RATE_LIMITED, LOG_UNAVAILABLE',
    because: 'clients get errors: [the code](errors-and-limits.md) says whose they are',
  },
  {
    name: 'GatewayOperationsSlow',
    expression: `histogram_quantile(0.99, ${rate('gateway_operation_duration_seconds_bucket{type!="subscription"}', '5m', `${EACH}, le`)}) > ${LIMITS.operationSeconds}`,
    for: '10m',
    severity: 'warning',
    when: `the 99th percentile of \`gateway_operation_duration_seconds\` of queries and mutations is above ${LIMITS.operationSeconds}`,
    because: 'clients wait: compare the times of the service, of Redis and of the event loop',
  },
  {
    name: 'GatewayInternalErrors',
    expression: counted('gateway_operations_total{code="INTERNAL_SERVER_ERROR"}'),
    for: '0m',
    severity: 'critical',
    when: '`gateway_operations_total` has counted INTERNAL_SERVER_ERROR within 5 minutes',
    because: 'a fault of the gateway: its log line has the stack',
  },
  {
    name: 'GatewayKeyRefused',
    expression: counted('gateway_upstream_requests_total{outcome=~"quota|unauthenticated|forbidden"}'),
    for: '0m',
    severity: 'warning',
    when: '`gateway_upstream_requests_total` has counted `quota`, `unauthenticated` or `forbidden` within 5 minutes',
    because:
      "the quota is used up, or the key is not accepted (with AUTH=key: a client's key, or an invented one)",
  },
  {
    name: 'GatewayLogFailing',
    expression: counted('gateway_log_errors_total'),
    for: '0m',
    severity: 'critical',
    when: '`gateway_log_errors_total` has counted within 5 minutes',
    because:
      "deliveries can't be stored or read: look at the disk under DATA_DIR, or at [Redis](many-machines.md#when-redis-fails)",
  },
  {
    name: 'GatewayDeliveriesRejected',
    expression: `${rate('gateway_deliveries_total{outcome=~"401|404"}', '5m', `${EACH}, outcome`)} > 0.1`,
    for: '10m',
    severity: 'warning',
    when: '`gateway_deliveries_total` counts more than one 401 or 404 in ten seconds',
    because: 'a webhook has an old url or secret, or a caller is guessing',
  },
  {
    name: 'GatewayDeliveriesFailing',
    expression: `${share('gateway_deliveries_total', 'outcome=~"5.."', `${EACH}, outcome`, EACH)} > ${LIMITS.failedDeliveries}`,
    for: '2m',
    severity: 'critical',
    when: 'of the deliveries that `gateway_deliveries_total` counts, more than a twentieth are answered 5xx',
    because:
      'they are not stored, and the service sends them again only for a while: [readiness](operations.md#readiness) says why',
  },
  {
    name: 'GatewayDeliveriesSlow',
    expression: `${p99('gateway_delivery_duration_seconds')} > ${LIMITS.deliverySeconds}`,
    for: '5m',
    severity: 'warning',
    when: `the 99th percentile of \`gateway_delivery_duration_seconds\` is above ${LIMITS.deliverySeconds}`,
    because: 'the service may give up on a delivery, and send it again',
  },
  {
    name: 'GatewayDeliveriesStopped',
    expression: `(sum(increase(${STORED}[1h])) or vector(0)) == 0 and sum(increase(${STORED}[1d])) > 0`,
    for: '5m',
    severity: 'warning',
    when: '`gateway_deliveries_total` has counted none `stored` within an hour, on any gateway, and some within the day before',
    because: 'webhooks are switched off, or do not reach PUBLIC_URL',
  },
  {
    name: 'GatewayLogSlow',
    expression: `${p99('gateway_log_append_duration_seconds')} > 0.25`,
    for: '5m',
    severity: 'warning',
    when: 'the 99th percentile of `gateway_log_append_duration_seconds` is above 0.25',
    because: 'the disk is too slow for what arrives',
  },
  {
    name: 'GatewayLogBacklog',
    expression: `gateway_log_pending_bytes > ${LIMITS.pendingBytes}`,
    for: '1m',
    severity: 'critical',
    when: '`gateway_log_pending_bytes` is above 32 MB',
    because: 'the disk does not keep up: at 64 MB deliveries are refused',
  },
  {
    name: 'GatewayRedisFailing',
    expression: counted('gateway_redis_command_duration_seconds_count{outcome!="replied"}'),
    for: '0m',
    severity: 'warning',
    when: '`gateway_redis_command_duration_seconds` has counted another outcome than `replied` within 5 minutes',
    because: '[Redis](many-machines.md#when-redis-fails) is lost, full or slow',
  },
  {
    name: 'GatewayRedisSlow',
    expression: `${p99('gateway_redis_command_duration_seconds')} > ${LIMITS.redisSeconds}`,
    for: '5m',
    severity: 'warning',
    when: `the 99th percentile of \`gateway_redis_command_duration_seconds\` is above ${LIMITS.redisSeconds}`,
    because: 'Redis, its disk or the way to it is too slow: look at `SLOWLOG GET` and `LATENCY LATEST`',
  },
  {
    name: 'GatewayRedisLost',
    expression: 'gateway_redis_connections_lost > 0',
    for: '1m',
    severity: 'critical',
    when: '`gateway_redis_connections_lost` is above 0',
    because: 'a Redis is lost and does not come back: its line in the log has the error',
  },
  {
    name: 'GatewaySubscribersFallBehind',
    expression: `min_over_time(${LAG}[10m]) > ${LIMITS.lagDeliveries} and deriv(${LAG}[10m]) > 0`,
    for: '10m',
    severity: 'warning',
    when: `\`${LAG}\` is above ${LIMITS.lagDeliveries} and grows`,
    because: 'a dashboard falls behind, and gets CURSOR_EXPIRED when retention drops what it has not read',
  },
  {
    name: 'GatewayUpstreamQueue',
    expression: `${p99('gateway_upstream_queue_seconds')} > 1`,
    for: '5m',
    severity: 'warning',
    when: 'the 99th percentile of `gateway_upstream_queue_seconds` is above 1',
    because: 'UPSTREAM_RPS or UPSTREAM_CONNECTIONS is too low for the load',
  },
  {
    name: 'GatewayThrottled',
    expression: counted('gateway_upstream_rejected_before_send_total{reason="cooldown"}'),
    for: '0m',
    severity: 'warning',
    when: '`gateway_upstream_rejected_before_send_total` has counted `cooldown` within 5 minutes',
    because:
      'the service throttles a key: lower the request rate (UPSTREAM_RPS bounds it), or get a higher limit',
  },
  {
    name: 'GatewayComputeUnits',
    expression: `sum(rate(gateway_upstream_compute_units_total[1h])) * 3600 > ${LIMITS.computeUnitsAnHour}`,
    for: '15m',
    severity: 'warning',
    when: `\`gateway_upstream_compute_units_total\` of all gateways grows by more than ${LIMITS.computeUnitsAnHour} an hour: put what you plan in its place`,
    because: 'that is what the service bills',
  },
  {
    name: 'GatewaySocketsNearLimit',
    expression: `gateway_websockets > ${LIMITS.sockets}`,
    for: '5m',
    severity: 'warning',
    when: `\`gateway_websockets\` is above ${LIMITS.sockets}, nine tenths of the default of MAX_SOCKETS`,
    because: 'further ones will be refused',
  },
  {
    name: 'GatewaySharingFails',
    expression: `${rate('gateway_shared_errors_total', '5m', `${EACH}, task`)} > 0`,
    for: '5m',
    severity: 'warning',
    when: '`gateway_shared_errors_total` counts',
    because:
      'the Redis of pages or budgets is down, slow or full: each gateway fetches for itself, and has limits of its own',
  },
  {
    name: 'GatewayOverloaded',
    expression: 'nodejs_eventloop_lag_p99_seconds > 0.2',
    for: '5m',
    severity: 'warning',
    when: '`nodejs_eventloop_lag_p99_seconds` is above 0.2',
    because: 'the process is overloaded: add another, or lower its limits',
  },
  {
    name: 'GatewayMemory',
    expression: `process_resident_memory_bytes{job="gateway"} > ${LIMITS.residentBytes}`,
    for: '10m',
    severity: 'warning',
    when: '`process_resident_memory_bytes` of the job `gateway` is above 1 GB',
    because:
      'no load that `npm run soak` makes takes so much with the default settings: lower the limits, or give it more',
  },
];
