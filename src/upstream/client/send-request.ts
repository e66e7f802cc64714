import type { Agent, Dispatcher } from 'undici';
import { onAbort } from '../../lib/abort.ts';
import { parseExactJson } from '../../lib/json/exact-json.ts';
import { parseInSlices } from '../../lib/json/parse-in-slices.ts';
import { MAX_SHAPES, TooManyShapesError } from '../../lib/json/shapes.ts';
import { childOf, type Trace } from '../../lib/trace-context.ts';
import { type Credential, withoutKey } from './credential.ts';
import { readErrorResponse } from './error-response.ts';
import { clientGone, UpstreamError } from './errors.ts';
import { type BodyLimits, readBody, readPrefix } from './response-body.ts';
import type { UpstreamMethod } from './retry.ts';

export type UpstreamRequest = {
  /** Which of the service's resources it is, in one word: it tells requests apart where their paths may not be told. */
  readonly resource: string;
  readonly method: UpstreamMethod;
  /** Below the service's base url; each segment already percent-encoded. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Sent as JSON; a property that is undefined is left out, null is sent as null. */
  readonly body?: object;
  readonly credential: Credential;
  /** Whether only the answer's status is needed: then any body will do. Default: false, the body must be JSON. */
  readonly ignoresBody?: boolean;
  /** Compute units by the contract, for a service that does not say what it billed. */
  readonly cost: number;
  /** Of the operation that makes it; others may come to share the answer. */
  readonly trace?: Trace;
};

export type UpstreamAnswer = {
  /** The parsed JSON body with every digit of its integers kept; null when the body is empty or ignored. */
  readonly body: unknown;
  /** Size of the body. */
  readonly bytes: number;
  /** From `X-Compute-Units-Cost`, else what the request says that it costs. */
  readonly computeUnits: number;
};

type Target = {
  readonly agent: Agent;
  readonly base: URL;
  readonly keyHeader: string;
  readonly bodyLimits: BodyLimits;
};

/** One attempt: a request and its whole answer within `timeoutMs`. Every failure is an UpstreamError. */
export const sendRequest = async (
  { agent, base, keyHeader, bodyLimits }: Target,
  request: UpstreamRequest,
  timeoutMs: number,
  signal: AbortSignal | null,
): Promise<UpstreamAnswer> => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(tooLate(timeoutMs)), timeoutMs);
  const stopListening = onAbort(signal, () => controller.abort(clientGone('aborted')));
  try {
    const { statusCode, headers, body } = await agent.request({
      origin: base.origin,
      path: `${base.pathname.replace(/\/$/, '')}${request.path}${request.query?.size ? `?${request.query}` : ''}`,
      method: request.method,
      headers: {
        accept: 'application/json',
        [keyHeader]: request.credential.key,
        ...(request.body && { 'content-type': 'application/json' }),
        ...(request.trace?.traceparent && { traceparent: childOf(request.trace.traceparent) }),
      },
      body: request.body ? JSON.stringify(request.body) : null,
      signal: controller.signal,
    });
    if (statusCode < 200 || statusCode > 299)
      throw readErrorResponse(statusCode, headers, await readPrefix(body), request.credential);
    const computeUnits = readComputeUnits(headers) ?? request.cost;
    if (request.ignoresBody) {
      // The status says that it is done: what becomes of the body changes nothing.
      body.dump({ limit: MAX_IGNORED_BYTES, signal: AbortSignal.timeout(MAX_IGNORED_MS) }).catch(ignore);
      return { body: null, bytes: 0, computeUnits };
    }
    const type = withoutKey(typeOf(headers), request.credential);
    const { value, bytes } = await readBody(body, bodyLimits, (text) =>
      parseBody(withoutKey(text, request.credential), type),
    );
    return { body: value, bytes, computeUnits };
  } catch (error) {
    throw error instanceof UpstreamError ? error : transportFailure(error);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
};

/** So much of an ignored body is read, to keep its connection. A longer body costs the connection. */
const MAX_IGNORED_BYTES = 64 * 1024;
const MAX_IGNORED_MS = 1000;

const ignore = () => {};

const tooLate = (timeoutMs: number): UpstreamError =>
  new UpstreamError('timeout', `The service did not answer within ${Math.ceil(timeoutMs)} ms.`, {
    connection: 'noResponse',
  });

/** Those that say that there was no connection over which the service could have got the request. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const transportFailure = (cause: unknown): UpstreamError => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return NEVER_CONNECTED.has(code)
    ? new UpstreamError('unavailable', 'The service can not be reached.', {
        cause,
        connection: 'connectFailed',
      })
    : new UpstreamError('unavailable', 'The service broke off its answer.', { cause, connection: 'reset' });
};

const typeOf = (headers: Dispatcher.ResponseData['headers']): string =>
  String(headers['content-type'] ?? 'no content type').slice(0, MAX_TYPE);

const MAX_TYPE = 80;

const parseBody = async (text: string, type: string): Promise<unknown> => {
  if (text === '') return null;
  try {
    return await parseInSlices(text, parseExactJson);
  } catch (cause) {
    if (cause instanceof TooManyShapesError) throw tooManyShapes(cause);
    throw new UpstreamError(
      'invalidResponse',
      `Expected JSON from the service, got ${text.length} characters of ${type} that do not parse.`,
      { cause },
    );
  }
};

const tooManyShapes = (cause: Error): UpstreamError =>
  new UpstreamError(
    'invalidResponse',
    `Expected an answer whose objects have at most ${MAX_SHAPES} shapes from the service, got more.`,
    { cause },
  );

const readComputeUnits = (headers: Dispatcher.ResponseData['headers']): number | null => {
  const stated = headers['x-compute-units-cost'];
  return typeof stated === 'string' && /^\d{1,9}$/.test(stated) ? Number(stated) : null;
};
