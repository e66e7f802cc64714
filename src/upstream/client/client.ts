import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import { type Clock, monotonicClock, onAbort } from '../../lib/deadlines.ts';
import { createMemoryBudget, type MemoryBudget } from '../../lib/memory-budget.ts';
import { Semaphore } from '../../lib/tasks.ts';
import { type Attempt, createCircuitBreakers, createSendAttempt } from './attempt.ts';
import {
  BodyCheck,
  type BodyLimits,
  type ParseBody,
  parseBody,
  parseJson,
  ReceivedBody,
  type ResponseHead,
  ResponseReceiver,
} from './body.ts';
import {
  clientGone,
  costLimitExceeded,
  deadlineExceeded,
  UpstreamError,
  type UpstreamFailure,
} from './errors.ts';
import { createKeyCooldowns, createRequestLimiter, type SharedCooldowns, type SharedRate } from './limits.ts';
import { startAttemptTimer, type UpstreamObserver } from './observer.ts';
import { redactText } from './redact-key.ts';
import {
  assertSendable,
  Bill,
  type Credential,
  type RequestScope,
  targetOf,
  type UpstreamAnswer,
  type UpstreamMethod,
  type UpstreamRequest,
} from './request.ts';
import { createRetry } from './retry.ts';

/**
 * Upstream's HTTP API. Every failure is an UpstreamError. A request that can't be sent is
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
  /** Sends the requests, until it is closed. Default: kept-alive connections to the URL. */
  readonly dispatcher?: RequestDispatcher | undefined;
  /** Milliseconds for one attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  /** The most concurrent requests. */
  readonly connections: number;
  /** Requests per second at most; null for no limit. */
  readonly perSecond: number | null;
  /** The header that names the client of a request, by what `nameOf` makes of it. Default: none does. */
  readonly clients?: ClientNames | null;
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

type ClientNames = { readonly header: string; readonly nameOf: (client: string) => string };

/** Fifty pages of the largest size that real wallets have. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
/** Large bodies are parsed one at a time; at most this many wait in line. */
const MAX_WAITING_BODIES = 8;

export const createUpstreamClient = (options: UpstreamClientOptions): UpstreamClient => {
  const { url, keyHeader, timeoutMs, connections, perSecond } = options;
  const {
    observer = {},
    now = monotonicClock,
    clients = null,
    sharedRate = null,
    sharedCooldowns = null,
    bodyMemory = createMemoryBudget(MAX_BODY_BYTES),
    dispatcher = createConnectionPool(url, connections, timeoutMs),
  } = options;
  const base = new URL(url);
  const bodyLimits = { memory: bodyMemory, large: new Semaphore(1, MAX_WAITING_BODIES) };
  const service = { dispatcher, keyHeader, clients, timeoutMs, bodyLimits };
  const breakers = createCircuitBreakers(observer.circuitChanged, now);
  const cooldowns = createKeyCooldowns(now, sharedCooldowns);
  const retry = createRetry();

  const limiter = createRequestLimiter(connections, perSecond, now);
  const sendAttempt = createSendAttempt({ cooldowns, breakers, limiter, sharedRate }, (attempt) =>
    sendRequest(service, attempt),
  );

  const read: UpstreamClient['read'] = async (request, parse, scope) => {
    const target = targetOf(base.pathname, request);
    assertSendable(scope.credential);
    if (exceedsCostLimit(request, scope)) throw costLimitExceeded(scope.maxComputeUnits);
    scope.deadline.start();
    const attempt = (number: number) => {
      const timer = startAttemptTimer(observer, request, number, scope.trace);
      const bill = new Bill(request.cost);
      return sendAttempt({ request, target, parse, scope, timer, bill });
    };
    return retry(request, scope.deadline, attempt, () => !exceedsCostLimit(request, scope));
  };

  return {
    read,
    request: (request, scope) => read(request, parseJson, scope),
    openCircuits: breakers.open,
    close: () => dispatcher.destroy(),
  };
};

const exceedsCostLimit = ({ cost }: UpstreamRequest, { usage, maxComputeUnits }: RequestScope): boolean =>
  cost > 0 && usage.computeUnits + cost > maxComputeUnits;

export type SentRequest = {
  /** With the query. */
  readonly path: string;
  readonly method: UpstreamMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** What undici needs of a handler. */
export type ResponseHandler = Required<
  Pick<
    Dispatcher.DispatchHandler,
    'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
  >
>;

/** What takes requests to upstream, by the contract of undici's dispatchers. */
export type RequestDispatcher = {
  dispatch(request: SentRequest, handler: ResponseHandler): boolean;
  /** Ends all requests. */
  destroy(): Promise<void>;
};

/** Kept-alive connections to the server of a URL, at most `connections`. Other requests wait for a free one. */
export const createConnectionPool = (
  url: string,
  connections: number,
  timeoutMs: number,
): RequestDispatcher => new Pool(new URL(url).origin, { connections, connectTimeout: timeoutMs });

type Service = {
  readonly dispatcher: RequestDispatcher;
  readonly keyHeader: string;
  readonly clients: ClientNames | null;
  /** Milliseconds for one attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  readonly bodyLimits: BodyLimits;
};

/**
 * Sends one attempt, and reads its whole answer. Every failure is an UpstreamError. Only a read is aborted by the scope's
 * signal.
 */
const sendRequest = async <Body>(
  { dispatcher, keyHeader, clients, timeoutMs, bodyLimits }: Service,
  { request, target, parse, scope, timer: attemptTimer, bill }: Attempt<Body>,
): Promise<UpstreamAnswer<Body>> => {
  const { credential, deadline, client } = scope;
  const { traceparent } = attemptTimer.trace;
  const body = new BodyCheck(bodyLimits.memory);
  const receiver = new ResponseReceiver({
    bill,
    ignoresBody: request.ignoresBody === true,
    check: body.check,
  });
  const leftMs = deadline.remainingMs();
  const onTimeout = () =>
    receiver.abort(leftMs < timeoutMs ? deadlineExceeded('deadline') : timedOut(timeoutMs));
  const timer = setTimeout(onTimeout, Math.min(leftMs, timeoutMs));
  const signal = request.method === 'GET' ? deadline.signal : null;
  const stopListening = onAbort(signal, () => receiver.abort(clientGone('aborted')));
  try {
    dispatcher.dispatch(
      {
        path: target,
        method: request.method,
        headers: {
          accept: 'application/json',
          ...(!request.withoutKey && { [keyHeader]: credential.key }),
          ...(request.body && { 'content-type': 'application/json' }),
          ...(traceparent !== null && { traceparent }),
          ...(clients !== null && client !== undefined && { [clients.header]: clients.nameOf(client) }),
        },
        body: request.body ? JSON.stringify(request.body) : null,
      },
      receiver,
    );
    const { statusCode, headers } = await receiver.head;
    if (statusCode < 200 || statusCode > 299)
      throw readErrorResponse(statusCode, headers, receiver.errorText(), credential);
    const chunks = request.ignoresBody ? [] : receiver.chunks;
    const received = new ReceivedBody(chunks, typeOf(headers), credential);
    const parseReceived = () => parse(received);
    const parsed = request.ignoresBody
      ? await parseReceived()
      : await parseBody(receiver, bodyLimits, parseReceived);
    received.free();
    return {
      status: statusCode,
      body: parsed,
      bytes: request.ignoresBody ? 0 : receiver.bytes,
      computeUnits: bill.computeUnits,
    };
  } catch (error) {
    receiver.abort(error instanceof Error ? error : new Error('The attempt failed.', { cause: error }));
    throw error;
  } finally {
    body.release();
    clearTimeout(timer);
    stopListening();
  }
};

const timedOut = (timeoutMs: number): UpstreamError =>
  new UpstreamError('timeout', `Upstream did not answer within ${Math.ceil(timeoutMs)} ms.`, {
    connection: 'noResponse',
  });

const typeOf = (headers: ResponseHead['headers']): string =>
  String(headers['content-type'] ?? 'no content type');

const MAX_MESSAGE_CHARACTERS = 500;
/** An error message may be nested: `{"error": {"error": {"message": "…"}}}`. */
const MAX_LEVELS = 8;

/** The error of a response whose status is not 2xx, with upstream's message from any of the body shapes that it uses. */
const readErrorResponse = (
  status: number,
  headers: ResponseHead['headers'],
  body: string,
  credential: Credential,
): UpstreamError => {
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const message = redactText(readMessage(body, headers).replaceAll(credential.key, '[key]'), credential);
  return new UpstreamError(failureOf(status), `Upstream answered ${status}.`, {
    status,
    serviceMessage: message.slice(0, MAX_MESSAGE_CHARACTERS),
    ofChain: headers['x-failure-of'] === 'chain',
    gatewayKey: credential.owner === 'gateway',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
};

const failureOf = (status: number): UpstreamFailure => {
  if (status === 401) return 'unauthenticated';
  if (status === 402) return 'quota';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'rateLimited';
  if (status >= 400 && status < 500) return 'rejected';
  return status >= 500 ? 'unavailable' : 'invalidResponse';
};

/** From `{"error": "…"}`, `{"error": {"message": "…"}}`, `{"message": "…"}` or plain text; "" for markup. */
const readMessage = (body: string, headers: ResponseHead['headers']): string => {
  try {
    const parsed: unknown = JSON.parse(body);
    return messageIn(parsed) ?? '';
  } catch {
    const isMarkup = /html/i.test(String(headers['content-type'] ?? '')) || /^\s*</.test(body);
    return isMarkup ? '' : body.trim();
  }
};

const messageIn = (value: unknown, levels = MAX_LEVELS): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || levels === 0) return undefined;
  const { error, message } = value as { error?: unknown; message?: unknown };
  return messageIn(error, levels - 1) ?? messageIn(message, levels - 1);
};

/** Milliseconds from now, from seconds or an HTTP date; undefined when the header is neither. */
const readRetryAfter = (header: string | string[] | undefined): number | undefined => {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  // Date.parse alone would accept `-5` and `1.5` as years.
  const date = /^[A-Z][a-z]{2,8},? .*GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
};
