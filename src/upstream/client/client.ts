import type { Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { type Clock, monotonicClock } from '../../lib/deadlines.ts';
import { createMemoryBudget, type MemoryBudget } from '../../lib/memory-budget.ts';
import { Semaphore } from '../../lib/tasks.ts';
import { type ParseBody, parseJson, ResponseReceiver } from './body.ts';
import { costLimitExceeded } from './errors.ts';
import { createKeyCooldowns, createRequestLimiter, type SharedCooldowns, type SharedRate } from './limits.ts';
import { startAttemptTimer, type UpstreamObserver } from './observer.ts';
import { Bill, type RequestScope, targetOf, type UpstreamAnswer, type UpstreamRequest } from './request.ts';
import { createRetry } from './retry.ts';
import { sendRequest } from './send-request.ts';
import {
  awaitCooldown,
  breakCircuit,
  countUsage,
  createCircuitBreakers,
  createPipeline,
  limitRequests,
  observeAttempt,
  recordCooldown,
} from './stages.ts';

/**
 * Upstream's HTTP API over kept-alive connections. Every failure is an UpstreamError. A request that can't be sent is
 * refused first of all, with `unsendable`.
 */
export type UpstreamClient = {
  /**
   * Resolves with the answer, whose body `parse` has parsed, after as many attempts as the table in retry.ts, the retry
   * budget, the deadline and the operation's limit of cost allow. Each attempt is counted on the scope's usage. The scope's
   * deadline starts now, so that the time in the queue counts. A read is aborted when the deadline's signal aborts. An
   * update is not aborted once it is sent, because its outcome would be unknown.
   */
  read<Body>(
    request: UpstreamRequest,
    parse: ParseBody<Body>,
    scope: RequestScope,
  ): Promise<UpstreamAnswer<Body>>;
  /** As `read`, with the body parsed as JSON; null when it is empty or ignored. */
  request(request: UpstreamRequest, scope: RequestScope): Promise<UpstreamAnswer<unknown>>;
  /** The resources whose circuit breaker is open: they have failed too often in a row. */
  openCircuits(): readonly string[];
  close(): Promise<void>;
};

export type UpstreamClientOptions = {
  /** Upstream's base URL, without a trailing slash. */
  readonly url: string;
  readonly keyHeader: string;
  /** Milliseconds for one attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  /** The most concurrent requests; each has a socket of its own. */
  readonly connections: number;
  /** Requests per second at most; null for no limit. */
  readonly perSecond: number | null;
  /** Shared by several gateways. Default: none. */
  readonly sharedRate?: SharedRate | null;
  readonly sharedCooldowns?: SharedCooldowns | null;
  /** Default: no observer. */
  readonly observer?: UpstreamObserver | undefined;
  /** Default: the clock of this process. */
  readonly now?: Clock | undefined;
  /** Limits the bytes of all bodies that are being received. Default: 256 MB. */
  readonly bodyMemory?: MemoryBudget;
};

/** Fifty pages of the largest size that real wallets have. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
/** Large bodies are parsed one at a time; at most this many wait in line. */
const MAX_WAITING_BODIES = 8;

export const createUpstreamClient = (options: UpstreamClientOptions): UpstreamClient => {
  const { url, keyHeader, timeoutMs, connections, perSecond } = options;
  const {
    observer = {},
    now = monotonicClock,
    sharedRate = null,
    sharedCooldowns = null,
    bodyMemory = createMemoryBudget(MAX_BODY_BYTES),
  } = options;
  const base = new URL(url);
  const pool = createConnectionPool(base.origin, connections, timeoutMs);
  const bodyLimits = { memory: bodyMemory, large: new Semaphore(1, MAX_WAITING_BODIES) };
  const service = { pool, keyHeader, timeoutMs, bodyLimits };
  const breakers = createCircuitBreakers(observer.circuitChanged, now);
  const cooldowns = createKeyCooldowns(now, sharedCooldowns);
  const retry = createRetry();

  const sendAttempt = createPipeline(
    [
      countUsage,
      observeAttempt,
      awaitCooldown(cooldowns),
      breakCircuit(breakers),
      limitRequests(createRequestLimiter(connections, perSecond, now), sharedRate),
      recordCooldown(cooldowns),
    ],
    ({ request, target, parse, scope, timer, bill }) =>
      sendRequest(service, request, target, parse, { ...scope, trace: timer.trace }, bill),
  );

  const read: UpstreamClient['read'] = async (request, parse, scope) => {
    const target = targetOf(base.pathname, request);
    if (exceedsCostLimit(request, scope)) throw costLimitExceeded(scope.maxComputeUnits);
    scope.deadline.start();
    const attempt = (number: number) => {
      const timer = startAttemptTimer(observer, request, number, scope.trace);
      const bill = new Bill(request.cost);
      return sendAttempt({ request, target, parse, scope, timer, bill, beforeSend() {} });
    };
    return retry(request, scope.deadline, attempt, () => !exceedsCostLimit(request, scope));
  };

  return {
    read,
    request: (request, scope) => read(request, parseJson, scope),
    openCircuits: breakers.open,
    close: () => pool.destroy(),
  };
};

const exceedsCostLimit = ({ cost }: UpstreamRequest, { usage, maxComputeUnits }: RequestScope): boolean =>
  cost > 0 && usage.computeUnits + cost > maxComputeUnits;

/** Upstream's kept-alive connections, at most `connections`. Other requests wait for a free one. */
export const createConnectionPool = (origin: string, connections: number, timeoutMs: number): Pool =>
  new Pool(origin, {
    connections,
    connect: buildConnector({ timeout: timeoutMs }),
    factory: (url, options) => new Connection(url, options),
  });

/**
 * A connection that stays in its pool when it refuses a request. undici answers `false` both when a connection is busy and
 * when it refuses a request as invalid. The pool then considers it busy until it finishes a request. If it had none to
 * finish, it would be lost for good.
 */
class Connection extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const isFree = super.dispatch(options, handler);
    return isFree || (handler instanceof ResponseReceiver && handler.isRefused);
  }
}
