/** Numbers at which each alert fires, and numbers at which it does not, in the notation of `promtool test rules`. */

export type Case = {
  /** Values by series, a minute apart: `0+1x9` is 0, 1, 2 … 9; `_` is no sample. */
  readonly series: Readonly<Record<string, string>>;
  /** The minute at which it is looked at. */
  readonly at: number;
};

export type AlertCases = {
  /** The labels of the alert that fires, without its severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly fires: readonly Case[];
  readonly quiet: readonly Case[];
};

const ONE = { job: 'gateway', instance: 'a:4000' };

const series = (name: string, labels: Readonly<Record<string, string>> = {}): string =>
  `${name}{${Object.entries({ ...ONE, ...labels })
    .map(([label, value]) => `${label}="${value}"`)
    .join(', ')}}`;

const at = (minute: number, ...all: readonly (readonly [name: string, values: string])[]): Case => ({
  at: minute,
  series: Object.fromEntries(all),
});

/** A gauge: it is over its limit for long, or not at all, or since this minute. */
const gauge = (
  name: string,
  over: string,
  under: string,
  labels: Readonly<Record<string, string>> = {},
): AlertCases => ({
  labels: { ...ONE, ...labels },
  fires: [at(30, [series(name, labels), `${over}x40`])],
  quiet: [
    at(30, [series(name, labels), `${under}x40`]),
    at(30, [series(name, labels), `${under}x29 ${over}x10`]),
  ],
});

/** A counter: it counts on, or for the first time; it stands still, starts anew, or counts something else. */
const counter = (
  name: string,
  labels: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>> | null,
): AlertCases => ({
  labels: ONE,
  fires: [
    at(30, [series(name, labels), '5x27 6x10']),
    at(30, [series(name, labels), '_x27 1x10']),
    at(30, [series(name, labels), '0x27 1x10']),
  ],
  quiet: [
    at(30, [series(name, labels), '5x40']),
    at(30, [series(name, labels), '5x27 0x10']),
    at(30, [series(name, labels), '0x10 1x30']),
    ...(other === null ? [] : [at(30, [series(name, other), '0+9x40'])]),
  ],
});

/** A histogram whose values are all between the two bounds. */
const between = (
  name: string,
  low: string,
  high: string,
  labels: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] => [
  [series(`${name}_bucket`, { ...labels, le: low }), '0x40'],
  [series(`${name}_bucket`, { ...labels, le: high }), '0+10x40'],
  [series(`${name}_bucket`, { ...labels, le: '+Inf' }), '0+10x40'],
];

/** `labels` are those of the histogram, which the alert has as well unless `fired` says which it has. */
const slow = (
  name: string,
  [low, high]: readonly [string, string],
  fast: string,
  labels: Readonly<Record<string, string>> = {},
  fired: Readonly<Record<string, string>> = { ...ONE, ...labels },
): AlertCases => ({
  labels: fired,
  fires: [at(30, ...between(name, low, high, labels))],
  quiet: [
    at(30, ...between(name, '0.001', fast, labels)),
    // Without traffic there is no percentile.
    at(30, ...between(name, low, high, labels).map(([key]) => [key, '0x40'] as const)),
  ],
});

/** The values of a counter by the labels of its series: how much each grows a minute. */
const grows = (
  name: string,
  ...all: readonly (readonly [labels: Readonly<Record<string, string>>, by: number])[]
): Case => at(30, ...all.map(([labels, by]) => [series(name, labels), `0+${by}x40`] as const));

/** The same, but nothing has grown before this minute. */
const since = (minute: number, { series: all, at: looked }: Case): Case => ({
  at: looked,
  series: Object.fromEntries(
    Object.entries(all).map(([key, values]) => [key, `${values.split('+')[0]}x${minute} ${values}`]),
  ),
});

const UPSTREAM = 'gateway_upstream_requests_total';
const OPERATIONS = 'gateway_operations_total';
const DELIVERIES = 'gateway_deliveries_total';

/** All `collectibles` fail while many more transactions succeed. */
const failing = (by: number, succeeding: number): Case =>
  grows(
    UPSTREAM,
    [{ resource: 'transactions', outcome: 'success' }, 1000],
    [{ resource: 'collectibles', outcome: 'success' }, succeeding],
    [{ resource: 'collectibles', outcome: 'unavailable' }, by],
  );

const operations = (code: string, by: number): Case =>
  grows(
    OPERATIONS,
    [{ code: 'OK', type: 'query', transport: 'http' }, 600],
    [{ code, type: 'query', transport: 'http' }, by],
  );

const STORED = series('gateway_deliveries_total', { outcome: 'stored' });
const BILLED = 'gateway_upstream_compute_units_total';
const OTHER_BILLED = `${BILLED}{job="gateway", instance="b:4000", resource="transactions"}`;

const OLDEST = series('gateway_index_oldest_pending_delivery_timestamp_seconds');

/** The newest block of a chain, by its number and its time. promtool begins at the second 0. */
const chain = (numbers: string, times: string): Case =>
  at(
    660,
    [series('gateway_index_head', { chain: '1' }), numbers],
    [series('gateway_index_head_timestamp_seconds', { chain: '1' }), times],
  );

/** How much of a chain is not done yet: it must fall. */
const falling = (name: string): AlertCases => {
  const behind = series(name, { chain: '1' });
  return {
    labels: { ...ONE, chain: '1' },
    fires: [at(50, [behind, '0+2x60']), at(50, [behind, '40x60'])],
    quiet: [
      at(50, [behind, '0x60']),
      at(50, [behind, '5x60']),
      // It catches up, after a long downtime.
      at(50, [behind, '100000-100x60']),
      // All is done now and then.
      at(50, [behind, Array(7).fill('0+20x9').join(' ')]),
    ],
  };
};

/** Calls of one method end so, or well, while those of others all do well. */
const node = (outcome: string, by: number, ok: number): Case =>
  grows(
    'gateway_index_node_calls_total',
    [{ chain: '1', method: 'eth_getBlockReceipts', outcome: 'ok' }, 1000],
    [{ chain: '1', method: 'eth_getBlockByNumber', outcome: 'ok' }, ok],
    [{ chain: '1', method: 'eth_getBlockByNumber', outcome }, by],
  );

const PAUSE = 'gateway_explorer_pause_seconds';

const pauseOf = (reason: string) => ({ explorer: 'hosted', reason });

/** An explorer that is not asked now, for this reason, or for another one. */
const pausing = (reason: string, other: string): AlertCases => ({
  labels: { ...ONE, ...pauseOf(reason) },
  fires: [at(30, [series(PAUSE, pauseOf(reason)), '_x29 60x10'])],
  quiet: [at(30, [series(PAUSE, pauseOf(other)), '60x40']), at(30, [series(PAUSE, pauseOf(reason)), '_x40'])],
});

/** The credits that are left, ten hours before they are counted anew. */
const credits = (numbers: string): Case =>
  at(
    90,
    [series('gateway_explorer_credits_left', { explorer: 'hosted' }), numbers],
    [series('gateway_explorer_credits_reset_seconds', { explorer: 'hosted' }), '36000x100'],
  );

export const ALERT_CASES: Readonly<Record<string, AlertCases>> = {
  GatewayDown: gauge('up', '0', '1'),
  GatewayUpstreamDown: gauge('gateway_upstream_circuit_breaker_open', '1', '0', {
    resource: 'transactions',
  }),
  GatewayUpstreamFailing: {
    labels: { ...ONE, resource: 'collectibles' },
    fires: [failing(10, 0), failing(10, 20)],
    quiet: [
      failing(10, 90),
      failing(0, 0),
      since(27, failing(10, 0)),
      grows(UPSTREAM, [{ resource: 'collectibles', outcome: 'rejected' }, 10]),
    ],
  },
  GatewayUpstreamSlow: slow('gateway_upstream_request_duration_seconds', ['2.5', '5'], '1', {
    resource: 'collectibles',
  }),
  GatewayOperationsFailing: {
    labels: { ...ONE, code: 'UPSTREAM_TIMEOUT' },
    fires: [operations('UPSTREAM_TIMEOUT', 60)],
    quiet: [
      operations('UPSTREAM_TIMEOUT', 6),
      operations('BAD_USER_INPUT', 600),
      since(27, operations('UPSTREAM_TIMEOUT', 60)),
    ],
  },
  GatewayOperationsSlow: slow(
    'gateway_operation_duration_seconds',
    ['2.5', '5'],
    '1',
    { type: 'query' },
    ONE,
  ),
  GatewayInternalErrors: counter(
    'gateway_operations_total',
    { code: 'INTERNAL_SERVER_ERROR', type: 'query', transport: 'http' },
    { code: 'OK', type: 'query', transport: 'http' },
  ),
  GatewayKeyRefused: counter(
    'gateway_upstream_requests_total',
    { resource: 'transactions', outcome: 'quota' },
    { resource: 'transactions', outcome: 'unavailable' },
  ),
  GatewayLogFailing: counter('gateway_log_errors_total', { task: 'append' }, null),
  GatewayDeliveriesRejected: {
    labels: { ...ONE, outcome: '401' },
    fires: [at(30, [series('gateway_deliveries_total', { outcome: '401' }), '0+60x40'])],
    quiet: [
      at(30, [series('gateway_deliveries_total', { outcome: '401' }), '0+1x40']),
      at(30, [series('gateway_deliveries_total', { outcome: '503' }), '0+60x40']),
    ],
  },
  GatewayDeliveriesFailing: {
    labels: { ...ONE, outcome: '503' },
    fires: [grows(DELIVERIES, [{ outcome: 'stored' }, 600], [{ outcome: '503' }, 60])],
    quiet: [
      grows(DELIVERIES, [{ outcome: 'stored' }, 600], [{ outcome: '503' }, 6]),
      grows(DELIVERIES, [{ outcome: 'stored' }, 60], [{ outcome: '401' }, 600]),
    ],
  },
  GatewayDeliveriesSlow: slow('gateway_delivery_duration_seconds', ['1', '2.5'], '0.5'),
  GatewayDeliveriesStopped: {
    labels: {},
    fires: [
      at(220, [STORED, '0+1x120 120x120']),
      // The gateway was restarted, and has stored none since.
      at(220, [STORED, '0+1x120 _x120']),
    ],
    quiet: [at(220, [STORED, '0+1x240']), at(220, [STORED, '0x240']), at(220, [series('up'), '1x240'])],
  },
  GatewayLogSlow: slow('gateway_log_append_duration_seconds', ['0.25', '0.5'], '0.1'),
  GatewayLogBacklog: gauge('gateway_log_pending_bytes', '40000000', '30000000'),
  GatewayRedisFailing: counter(
    'gateway_redis_command_duration_seconds_count',
    { outcome: 'unavailable' },
    { outcome: 'replied' },
  ),
  GatewayRedisSlow: slow(
    'gateway_redis_command_duration_seconds',
    ['0.25', '0.5'],
    '0.1',
    { outcome: 'replied' },
    ONE,
  ),
  GatewayRedisLost: gauge('gateway_redis_connections_lost', '2', '0', { variable: 'REDIS_URL' }),
  GatewaySubscribersFallBehind: {
    labels: ONE,
    fires: [at(50, [series('gateway_reader_lag_deliveries'), '0+50x60'])],
    quiet: [
      at(50, [series('gateway_reader_lag_deliveries'), '5000x60']),
      at(50, [series('gateway_reader_lag_deliveries'), '5000-50x60']),
      at(50, [series('gateway_reader_lag_deliveries'), '0+1x60']),
      // It catches up now and then.
      at(50, [series('gateway_reader_lag_deliveries'), Array(7).fill('0+90x9').join(' ')]),
    ],
  },
  GatewayUpstreamQueue: slow('gateway_upstream_queue_seconds', ['1', '5'], '0.5'),
  GatewayThrottled: counter(
    'gateway_upstream_rejected_before_send_total',
    { resource: 'transactions', reason: 'cooldown' },
    { resource: 'transactions', reason: 'aborted' },
  ),
  GatewayComputeUnits: {
    labels: {},
    fires: [at(90, [series(BILLED, { resource: 'transactions' }), '0+100x100'], [OTHER_BILLED, '0+100x100'])],
    quiet: [at(90, [series(BILLED, { resource: 'transactions' }), '0+50x100'], [OTHER_BILLED, '0+50x100'])],
  },
  GatewaySocketsNearLimit: gauge('gateway_websockets', '19000', '17000'),
  GatewaySharingFails: {
    labels: { ...ONE, task: 'find' },
    fires: [at(30, [series('gateway_shared_errors_total', { task: 'find' }), '0+1x40'])],
    quiet: [
      at(30, [series('gateway_shared_errors_total', { task: 'find' }), '7x40']),
      at(30, [series('gateway_shared_errors_total', { task: 'find' }), '0x27 1x10']),
    ],
  },
  GatewayWorkerEnds: counter('gateway_worker_exits_total', {}, null),
  GatewayOverloaded: gauge('nodejs_eventloop_lag_p99_seconds', '0.3', '0.01'),
  GatewayMemory: {
    labels: ONE,
    fires: [
      at(30, [series('process_resident_memory_bytes'), '4400000000x40'], [series('gateway_workers'), '4x40']),
    ],
    quiet: [
      at(30, [series('process_resident_memory_bytes'), '3600000000x40'], [series('gateway_workers'), '4x40']),
      at(30, [series('process_resident_memory_bytes'), '300000000x40'], [series('gateway_workers'), '1x40']),
    ],
  },
  GatewayChainStopped: gauge('gateway_index_problem', '1', '0', { chain: '1' }),
  GatewayChainSilent: {
    labels: { ...ONE, chain: '1' },
    fires: [chain('0+5x600 3000x60', '0+60x600 36000x60')],
    quiet: [
      // A block each 12 seconds.
      chain('0+5x660', '0+60x660'),
      // A local chain, which makes a block when it is used.
      chain('0+1x20 20x640', '0+60x20 1200x640'),
      chain('7x660', '0x660'),
      // It has been silent for less than ten minutes, and then five.
      chain('0+5x650 3250x10', '0+60x650 39000x10'),
    ],
  },
  GatewayChainBehind: falling('gateway_index_blocks_behind'),
  GatewayTracesBehind: {
    ...falling('gateway_index_traces_behind'),
    fires: [
      ...falling('gateway_index_traces_behind').fires,
      ...gauge('gateway_index_traces_problem', '1', '0', { chain: '1' }).fires,
    ],
  },
  GatewayNodeFailing: {
    labels: { ...ONE, chain: '1', method: 'eth_getBlockByNumber' },
    fires: [node('unavailable', 10, 0), node('unavailable', 10, 20)],
    quiet: [
      node('unavailable', 1, 20),
      // A contract that says nothing is no fault of its node.
      node('refused', 100, 0),
      node('unavailable', 0, 0),
      since(27, node('unavailable', 10, 0)),
    ],
  },
  GatewayDeliveriesWaiting: {
    labels: ONE,
    fires: [at(30, [OLDEST, '60x40'])],
    quiet: [
      at(30, [OLDEST, '0+60x40']),
      at(30, [OLDEST, '60x20 _x20']),
      // It waits for more than 15 minutes since less than five.
      at(19, [OLDEST, '60x40']),
    ],
  },
  GatewayDeliveriesLost: counter(
    'gateway_index_deliveries_total',
    { outcome: 'abandoned' },
    { outcome: 'retried' },
  ),
  GatewayExplorerCreditsLow: {
    labels: { ...ONE, explorer: 'hosted' },
    // 100 credits a minute are 6,000 an hour, and there are ten hours to go.
    fires: [credits('50000-100x100')],
    quiet: [
      credits('90000-100x100'),
      credits('10x100'),
      // They were counted anew.
      credits('30000-100x60 100000-100x40'),
    ],
  },
  GatewayExplorerCreditsOut: pausing('outOfCredits', 'badKey'),
  GatewayExplorerCoolingDown: {
    labels: { ...ONE, ...pauseOf('rateLimited') },
    fires: [
      at(30, [series(PAUSE, pauseOf('rateLimited')), '60x40']),
      // It is asked in between, and refuses again.
      at(30, [
        series(PAUSE, pauseOf('rateLimited')),
        '60 _x2 60 _x2 60 _x2 60 _x2 60 _x2 60 _x2 60 _x2 60 _x2 60 _x2 60 _x2 60x9',
      ]),
    ],
    quiet: [
      at(30, [series(PAUSE, pauseOf('rateLimited')), '2x40']),
      at(30, [series(PAUSE, pauseOf('rateLimited')), '_x27 60x10']),
      at(30, [series(PAUSE, pauseOf('outOfCredits')), '600x40']),
    ],
  },
  GatewayExplorerKeyRefused: pausing('badKey', 'rateLimited'),
};
