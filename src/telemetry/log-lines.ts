import type { IngestObserver } from '../deliveries/ingress/ingress.ts';
import type { LogObserver, LogTask } from '../deliveries/log/observer.ts';
import type { RetentionObserver } from '../deliveries/log/retention.ts';
import type { ErrorCode } from '../graph/errors.ts';
import { type Clock, monotonicClock } from '../lib/deadlines.ts';
import { messageOf, stackOf } from '../lib/errors.ts';
import type { Log, LogLevel } from '../lib/log.ts';
import type { Trace } from '../lib/trace.ts';
import type { RedisObserver } from '../redis/connection.ts';
import type { SharedObserver } from '../redis/run.ts';
import type { Attributed } from '../server/graphql/attribution.ts';
import type { OperationObserver } from '../server/graphql/observe.ts';
import type { ConnectionObserver } from '../server/http/unsent-limit.ts';
import type { UpstreamError } from '../upstream/client/errors.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';
import type { Sink } from './combine.ts';

/**
 * The lines that an operator reads. A line names codes, resources and statuses, and never quotes a client or upstream: a
 * quote could contain a key or a delivery URL.
 */

/** Logs one line per operation: `debug` on success, and on failure a level that reflects whose fault it is. */
export const createOperationLines = (log: Log): Sink<OperationObserver> => ({
  answered(operation) {
    const { attributed, type, transport, codes, abandoned, unexpectedErrors } = operation;
    const { durationMs, upstream, estimate, unchanged, trace } = operation;
    const level = levelOf(codes, abandoned, upstream !== null);
    if (!log.writes(level)) return;
    const failed = codes.length > 0;
    log[level](failed ? 'operation failed' : 'operation answered', {
      type,
      transport,
      ...sourceOf(attributed),
      ...(failed && { codes }),
      ...(abandoned && { abandoned }),
      ...(unexpectedErrors.length > 0 && { errors: unexpectedErrors.slice(0, MAX_STACKS).map(stackOf) }),
      ...(durationMs !== null && { durationMs: rounded(durationMs) }),
      ...upstream,
      ...(estimate !== null && { estimatedComputeUnits: estimate }),
      ...(unchanged !== null && { unchanged }),
      ...idsOf(trace),
    });
  },
});

/** The fields that say who sent an operation, and which one it is. */
export const sourceOf = ({ attribution, clientVersion, tenant }: Attributed) => ({
  ...attribution,
  ...(clientVersion !== null && { clientVersion }),
  ...(tenant !== null && { tenant }),
});

/** One bug can cause an error for each item of a page. */
const MAX_STACKS = 3;

/** Failures of upstream, of its configuration, or of the log's storage. All others are the client's to fix. */
const WARNINGS: ReadonlySet<ErrorCode> = new Set([
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
  'LOG_UNAVAILABLE',
]);

const levelOf = (codes: readonly ErrorCode[], abandoned: boolean, hasRun: boolean): LogLevel => {
  if (codes.includes('INTERNAL_SERVER_ERROR')) return 'error';
  if (abandoned) return 'debug';
  // The rate limit for new documents: a client can exceed it with every request.
  if (!hasRun && codes.includes('RATE_LIMITED')) return 'debug';
  if (codes.some((code) => WARNINGS.has(code))) return 'warn';
  return codes.length > 0 ? 'info' : 'debug';
};

/** Logs one line per failed attempt, and one whenever the circuit breaker opens or closes. */
export const createUpstreamLines = (log: Log): Sink<UpstreamObserver> => ({
  ended({ resource, method, number, error, sent, durationMs, trace }) {
    if (error === null) return;
    const { failure, status, connection } = error;
    log[sent ? severityOf(error) : 'debug'](
      sent ? 'upstream request failed' : 'upstream request rejected before it was sent',
      {
        resource,
        method,
        attempt: number,
        failure,
        ...(status !== undefined && { status }),
        ...(connection !== undefined && { connection }),
        durationMs: rounded(durationMs),
        ...idsOf(trace),
      },
    );
  },
  circuitChanged(state, resource) {
    if (state === 'down') log.warn('circuit breaker opened', { resource });
    else log.info('circuit breaker closed', { resource });
  },
});

const severityOf = ({ failure, gatewayKey }: UpstreamError): LogLevel => {
  if (failure === 'aborted') return 'debug';
  const isKeyRejected = failure === 'unauthenticated' || failure === 'forbidden';
  if (isKeyRejected && gatewayKey) return 'error';
  return isKeyRejected || failure === 'rejected' ? 'info' : 'warn';
};

/** The interval between lines about deliveries without memory: their sender may repeat them at once. */
const OUT_OF_MEMORY_EVERY_MS = 60_000;

/** Logs the first delivery that is refused for lack of memory, and then one line a minute with the number of them. */
export const createIngestLines = (log: Log, now: Clock = monotonicClock): Sink<IngestObserver> => {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    outOfMemory() {
      refused += 1;
      if (now() - loggedAt < OUT_OF_MEMORY_EVERY_MS) return;
      log.warn('deliveries refused: no memory for their bodies', { refused });
      refused = 0;
      loggedAt = now();
    },
  };
};

/**
 * Logs one line when appends or reads begin to fail, and one when they recover: upstream retries each delivery many times,
 * and each subscriber its read. One line for damage covers all failures that it causes. A delivery that can't be stored
 * while others can has a line of its own.
 */
export const createLogLines = (log: Log): Sink<LogObserver> => {
  const failing = new Set<LogTask>();
  let isDamaged = false;
  return {
    appended() {
      if (failing.delete('append')) log.info('delivery log: appends recovered');
    },
    read() {
      if (failing.delete('read')) log.info('delivery log: reads recovered');
    },
    checked() {
      if (failing.delete('check')) log.info('delivery log: checks recovered');
    },
    checkpointed() {
      if (failing.delete('checkpoint')) log.info('delivery log: checkpoints recovered');
    },
    failed(task, error) {
      if (isDamaged || failing.has(task)) return;
      failing.add(task);
      log.error('delivery log: unavailable', { task, error: messageOf(error) });
    },
    damaged(error) {
      isDamaged = true;
      log.error('delivery log: damaged', { error: messageOf(error) });
    },
    recovered() {
      isDamaged = false;
      log.info('delivery log: repaired');
    },
    refused(error) {
      log.error('delivery log: a delivery cannot be stored', { error: messageOf(error) });
    },
  };
};

/** Logs when retention begins to fail, and each jump of the clock that it goes by until that is over. */
export const createRetentionLines = (log: Log): Sink<RetentionObserver> => ({
  failed(error) {
    log.warn('retention failed', { error: messageOf(error) });
  },
  jumped(ms) {
    log.warn('retention by age waits: the clock has jumped, or the gateway was off', {
      aheadSeconds: inSeconds(ms),
    });
  },
  settled(reason) {
    log.info('retention by age goes on', { reason });
  },
  differs(ms) {
    if (ms === null) log.info('the clock is in step with that of Redis');
    else log.warn('the clock is wrong, or that of Redis is', { aheadSeconds: inSeconds(ms) });
  },
});

const inSeconds = (ms: number): number => Math.round(ms / 1000);

/** Logs an error outside the catalogue that belongs to no operation's line: one that ends or fails an event of a subscription. */
export const createUnexpectedErrorLine =
  (log: Log) =>
  (error: unknown, trace: Trace): void =>
    log.error('unexpected error', { errors: [stackOf(error)], ...idsOf(trace) });

/** Logs that the connection of a slow reader was cut, with the bytes that were unsent. */
export const createConnectionLines = (log: Log): Sink<ConnectionObserver> => ({
  cut: (reason, unsentBytes) => log.info('slow reader disconnected', { reason, unsentBytes }),
});

const idsOf = ({ requestId, traceparent }: Trace) => ({
  requestId,
  ...(traceparent !== null && { traceId: traceparent.split('-')[1] }),
});

const rounded = (ms: number): number => Math.round(ms * 10) / 10;

/** A Redis that refuses commands again after this time without a refusal gets a new line. */
const QUIET_MS = 60_000;

/**
 * Logs one line when a Redis is lost and one when all connections to it are back, and one when it begins to refuse what
 * gateways share: however many connections and commands fail. `variable` is that of its URL.
 */
export const createRedisLines = (log: Log, variable: string): Sink<RedisObserver & SharedObserver> => {
  let lost = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  return {
    lost(error) {
      lost += 1;
      if (lost === 1) log.warn('Redis is lost', { variable, error });
    },
    restored() {
      lost -= 1;
      if (lost === 0) log.info('Redis is back', { variable });
    },
    refused(error) {
      if (performance.now() - refusedAt > QUIET_MS)
        log.warn('Redis refuses what gateways share', { variable, error });
      refusedAt = performance.now();
    },
  };
};
