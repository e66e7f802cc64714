import type { Pool } from 'undici';
import { onAbort } from '../../lib/abort.ts';
import { clientGone, deadlineExceeded, UpstreamError } from './errors.ts';
import type { UpstreamAnswer, UpstreamRequest } from './request.ts';
import type { RequestScope } from './request-scope.ts';
import { readErrorResponse } from './responses/error-response.ts';
import { type ParseBody, ReceivedBody } from './responses/received-body.ts';
import { BodyCheck, type BodyLimits, parseBody } from './responses/response-body.ts';
import { type ResponseHead, ResponseReceiver } from './responses/response-receiver.ts';
import type { Bill } from './usage.ts';

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
          [keyHeader]: credential.key,
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
