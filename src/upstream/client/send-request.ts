import type { Pool } from 'undici';
import { onAbort } from '../../lib/deadlines.ts';
import {
  BodyCheck,
  type BodyLimits,
  type ParseBody,
  parseBody,
  ReceivedBody,
  type ResponseHead,
  ResponseReceiver,
} from './body.ts';
import { clientGone, deadlineExceeded, UpstreamError, type UpstreamFailure } from './errors.ts';
import { redactText } from './redact-key.ts';
import type { Bill, Credential, RequestScope, UpstreamAnswer, UpstreamRequest } from './request.ts';

type Service = {
  readonly pool: Pool;
  readonly keyHeader: string;
  /** Milliseconds for one attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  readonly bodyLimits: BodyLimits;
};

/**
 * Sends one attempt to `target`, its path and query, under the scope's trace, and reads its whole answer. `bill` has what it
 * costs. Every failure is an UpstreamError. Only a read is aborted by the scope's signal.
 */
export const sendRequest = async <Body>(
  { pool, keyHeader, timeoutMs, bodyLimits }: Service,
  request: UpstreamRequest,
  target: string,
  parse: ParseBody<Body>,
  { credential, deadline, trace }: RequestScope,
  bill: Bill,
): Promise<UpstreamAnswer<Body>> => {
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
    pool.dispatch(
      {
        path: target,
        method: request.method,
        headers: {
          accept: 'application/json',
          ...(!request.withoutKey && { [keyHeader]: credential.key }),
          ...(request.body && { 'content-type': 'application/json' }),
          ...(trace.traceparent !== null && { traceparent: trace.traceparent }),
        },
        body: request.body ? JSON.stringify(request.body) : null,
      },
      receiver,
    );
    const { statusCode, headers } = await receiver.head;
    if (statusCode < 200 || statusCode > 299)
      throw readErrorResponse(statusCode, headers, receiver.errorText(), credential);
    const type = typeOf(headers);
    const parsed = request.ignoresBody
      ? await parse(new ReceivedBody([], type, credential))
      : await parseBody(receiver, bodyLimits, (chunks) => parse(new ReceivedBody(chunks, type, credential)));
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
