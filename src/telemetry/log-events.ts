import type { ErrorCode } from '../graph/errors.ts';
import type { Trace } from '../lib/trace-context.ts';
import type { Log, LogLevel } from '../logger.ts';
import type { AnsweredOperation } from '../server/graphql/plugins/operation-observer.ts';
import type { UpstreamError } from '../upstream/client/errors.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';

/**
 * What an operator reads. A line names codes, resources and statuses, never what a client or the service said: that may
 * hold a key, or a delivery url.
 */

/** One line an operation: at debug, or when it failed, as loud as it concerns the operator. */
export const createOperationLines =
  (log: Log) =>
  ({
    type,
    transport,
    codes,
    abandoned,
    unexpectedErrors,
    durationMs,
    upstream,
    trace,
  }: AnsweredOperation): void => {
    const failed = codes.length > 0;
    log[levelOf(codes, abandoned)](failed ? 'an operation failed' : 'an operation was answered', {
      type,
      transport,
      ...(failed && { codes }),
      ...(abandoned && { abandoned }),
      ...(unexpectedErrors.length > 0 && { errors: unexpectedErrors.slice(0, MAX_STACKS).map(stackOf) }),
      ...(durationMs !== null && { durationMs: rounded(durationMs) }),
      ...upstream,
      ...namesOf(trace),
    });
  };

/** One bug can meet each item of a page. */
const MAX_STACKS = 3;

/** The service's trouble, or the operator's: what else fails is the client's to mend. */
const WARNINGS: ReadonlySet<ErrorCode> = new Set([
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
]);

const levelOf = (codes: readonly ErrorCode[], abandoned: boolean): LogLevel => {
  if (codes.includes('INTERNAL_SERVER_ERROR')) return 'error';
  if (abandoned) return 'debug';
  if (codes.some((code) => WARNINGS.has(code))) return 'warn';
  return codes.length > 0 ? 'info' : 'debug';
};

/** One line a failed attempt, and one whenever the service is taken for down or no longer is. */
export const createUpstreamLines = (log: Log): Pick<UpstreamObserver, 'ended' | 'circuitChanged'> => ({
  ended({ resource, method, number, error, sent, durationMs, trace }) {
    if (error === null) return;
    const { failure, status, connection } = error;
    log[sent ? severityOf(error) : 'debug'](
      sent ? 'an upstream request failed' : 'an upstream request was not sent',
      {
        resource,
        method,
        attempt: number,
        failure,
        ...(status !== undefined && { status }),
        ...(connection !== undefined && { connection }),
        durationMs: rounded(durationMs),
        ...namesOf(trace),
      },
    );
  },
  circuitChanged(state) {
    if (state === 'down') log.warn('the service is taken for down');
    else log.info('the service answers again');
  },
});

const severityOf = ({ failure, gatewayKey }: UpstreamError): LogLevel => {
  if (failure === 'aborted') return 'debug';
  const refused = failure === 'unauthenticated' || failure === 'forbidden';
  if (refused && gatewayKey) return 'error';
  return refused || failure === 'rejected' ? 'info' : 'warn';
};

/**
 * One line when the log stops taking deliveries or giving them, and one when it does again: each sender tries many times,
 * and each dashboard. One when it is damaged, for all that fails with it. A delivery that alone can't be stored has a
 * line of its own.
 */
export const createLogLines = (log: Log) => {
  const failing = new Set<'append' | 'read'>();
  let isDamaged = false;
  return {
    appended(): void {
      if (failing.delete('append')) log.info('the delivery log takes deliveries again');
    },
    read(): void {
      if (failing.delete('read')) log.info('the delivery log can be read again');
    },
    failed(task: 'append' | 'read', error: unknown): void {
      if (isDamaged || failing.has(task)) return;
      failing.add(task);
      log.error('the delivery log is unavailable', { task, error: messageOf(error) });
    },
    damaged(error: unknown): void {
      isDamaged = true;
      log.error('the delivery log is damaged', { error: messageOf(error) });
    },
    recovered(): void {
      isDamaged = false;
      log.info('the delivery log is whole again');
    },
    refused(error: unknown): void {
      log.error('a delivery can not be stored', { error: messageOf(error) });
    },
  };
};

const namesOf = ({ requestId, traceparent }: Trace) => ({
  requestId,
  ...(traceparent !== null && { traceId: traceparent.split('-')[1] }),
});

const rounded = (ms: number): number => Math.round(ms * 10) / 10;

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
