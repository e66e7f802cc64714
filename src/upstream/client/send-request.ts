import type { Agent, Dispatcher } from 'undici';
import { onAbort } from '../../lib/abort.ts';
import { childOf } from '../../lib/trace-context.ts';
import { readErrorResponse } from './error-response.ts';
import { clientGone, deadlineExceeded, UpstreamError } from './errors.ts';
import { type ParseBody, ReceivedBody } from './received-body.ts';
import { redactChunks, redactText } from './redact-key.ts';
import type { UpstreamAnswer, UpstreamRequest } from './request.ts';
import type { RequestScope } from './request-scope.ts';
import { type BodyLimits, readBody, readPrefix } from './response-body.ts';

type Target = {
  readonly agent: Agent;
  readonly base: URL;
  readonly keyHeader: string;
  /** Milliseconds for one attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  readonly bodyLimits: BodyLimits;
};

/** An ignored body is read up to these limits, so that its connection can be reused. A longer one costs the connection. */
const MAX_IGNORED_BYTES = 64 * 1024;
const MAX_IGNORED_MS = 1000;

const MAX_TYPE_CHARACTERS = 80;

/** Failures of undici and the system that occur before a connection exists: upstream has not seen the request. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Sends one attempt and reads its whole answer. Every failure is an UpstreamError. Only a read is aborted by the scope's signal. */
export const sendRequest = async <Body>(
  { agent, base, keyHeader, timeoutMs, bodyLimits }: Target,
  request: UpstreamRequest,
  parse: ParseBody<Body>,
  { credential, deadline, trace }: RequestScope,
): Promise<UpstreamAnswer<Body>> => {
  const controller = new AbortController();
  const leftMs = deadline.remainingMs();
  const late = leftMs < timeoutMs ? deadlineExceeded('deadline') : timedOut(timeoutMs);
  const timer = setTimeout(() => controller.abort(late), Math.min(leftMs, timeoutMs));
  const signal = request.method === 'GET' ? deadline.signal : null;
  const stopListening = onAbort(signal, () => controller.abort(clientGone('aborted')));
  try {
    const { statusCode, headers, body } = await agent.request({
      origin: base.origin,
      path: `${base.pathname.replace(/\/$/, '')}${request.path}${request.query?.size ? `?${request.query}` : ''}`,
      method: request.method,
      headers: {
        accept: 'application/json',
        [keyHeader]: credential.key,
        ...(request.body && { 'content-type': 'application/json' }),
        ...(trace.traceparent !== null && { traceparent: childOf(trace.traceparent) }),
      },
      body: request.body ? JSON.stringify(request.body) : null,
      signal: controller.signal,
    });
    if (statusCode < 200 || statusCode > 299)
      throw readErrorResponse(statusCode, headers, await readPrefix(body), credential);
    const computeUnits = readComputeUnits(headers) ?? request.cost;
    const type = redactText(typeOf(headers), credential);
    if (request.ignoresBody) {
      // The request has succeeded, whatever happens to the body.
      body.dump({ limit: MAX_IGNORED_BYTES, signal: AbortSignal.timeout(MAX_IGNORED_MS) }).catch(ignore);
      return { body: await parse(new ReceivedBody([], type)), bytes: 0, computeUnits };
    }
    const { value, bytes } = await readBody(body, bodyLimits, (chunks) =>
      parse(new ReceivedBody(redactChunks(chunks, credential), type)),
    );
    return { body: value, bytes, computeUnits };
  } catch (error) {
    throw error instanceof UpstreamError ? error : transportFailure(error);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
};

const ignore = () => {};

const timedOut = (timeoutMs: number): UpstreamError =>
  new UpstreamError('timeout', `Upstream did not answer within ${Math.ceil(timeoutMs)} ms.`, {
    connection: 'noResponse',
  });

const transportFailure = (cause: unknown): UpstreamError => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return NEVER_CONNECTED.has(code)
    ? new UpstreamError('unavailable', 'The connection to upstream failed.', {
        cause,
        connection: 'connectFailed',
      })
    : new UpstreamError('unavailable', 'The connection to upstream broke before the end of the answer.', {
        cause,
        connection: 'reset',
      });
};

const typeOf = (headers: Dispatcher.ResponseData['headers']): string =>
  String(headers['content-type'] ?? 'no content type').slice(0, MAX_TYPE_CHARACTERS);

const readComputeUnits = (headers: Dispatcher.ResponseData['headers']): number | null => {
  const stated = headers['x-compute-units-cost'];
  return typeof stated === 'string' && /^\d{1,9}$/.test(stated) ? Number(stated) : null;
};
