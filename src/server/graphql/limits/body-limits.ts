import type { ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { FetchAPI } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';
import { parseInSlices } from '../../../lib/json/parse-in-slices.ts';
import { MAX_SHAPES, TooManyShapesError } from '../../../lib/json/shapes.ts';
import { JsonSize } from '../../../lib/json/size-scanner.ts';
import { onResponseClosed } from '../../http/response-end.ts';
import type { ServerPlugin } from '../server-context.ts';
import { estimatedBytes, isExempt, type RequestMemory } from './request-memory.ts';

/** The most bytes of a body. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The most values of a body. 8 MB hold a list of 180,000 addresses. */
const MAX_VALUES = 250_000;

/** Whether a request with this Content-Length is exempt. A chunked body has none, so it isn't. */
export const isSmallBody = (contentLength: string | null | undefined): boolean =>
  typeof contentLength === 'string' && isExempt(Number(contentLength));

export type BodyLimit = {
  /** Counts the next chunk of the body before it is stored. Throws if the body exceeds a limit. */
  add(chunk: Uint8Array): void;
  /** The whole body is here: it keeps its memory until it is released. */
  arrived(): void;
  /** Counts the body no longer. */
  release(): void;
};

/**
 * Bounds the memory of a large request from its first byte until it is answered: a body may take half a minute to arrive, and
 * longer to be answered. A body that does not fit is rejected with 503, and one of too many values with 413, before the rest
 * of it is read. `abort` is called with the 503 if the body stalls while others need its memory.
 */
export const limitBody = (
  requestMemory: RequestMemory,
  client: string,
  response: ServerResponse,
  abort: (error: GraphQLError) => void,
): BodyLimit => {
  const { growTo, arrived, release } = requestMemory.reserve(client, () => abort(overMemoryLimit()));
  onResponseClosed(response, release);
  const size = new JsonSize();
  return {
    add(chunk) {
      size.add(chunk);
      if (size.values > MAX_VALUES) throw tooManyValues();
      if (!growTo(estimatedBytes(size))) throw overMemoryLimit();
    },
    arrived,
    release,
  };
};

/** Parses a body, a large one in slices. Rejects with SyntaxError, and if its objects have too many shapes. */
export const parseBody = async (text: string): Promise<unknown> => {
  try {
    return await parseInSlices(text);
  } catch (error) {
    throw error instanceof TooManyShapesError ? tooManyShapes() : error;
  }
};

/** Limits the bodies of HTTP requests that Yoga reads. Its callers are authenticated already. */
export const useBodyLimits = (requestMemory: RequestMemory): ServerPlugin => ({
  onRequestParse({ request, requestParser, setRequestParser, serverContext: { res, httpCaller }, fetchAPI }) {
    const { method, headers } = request;
    if (!requestParser || !res || !httpCaller || method === 'GET') return;
    if (isSmallBody(headers.get('content-length'))) return;
    const limitFor = (abort: (error: GraphQLError) => void) =>
      limitBody(requestMemory, httpCaller.billingKey, res, abort);
    setRequestParser((whole) => requestParser(limitedRequest(whole, limitFor, fetchAPI)));
  },
});

/** The same request, whose body counts while it is read. */
const limitedRequest = (
  request: Request,
  limitFor: (abort: (error: GraphQLError) => void) => BodyLimit,
  fetchAPI: FetchAPI,
): Request => {
  if (!request.body) return request;
  // Yoga's streams don't call `start`. A body that can be aborted has had a chunk.
  let stream: TransformStreamDefaultController | null = null;
  const limit = limitFor((error) => stream?.error(error));
  const body = request.body.pipeThrough(
    new fetchAPI.TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        stream = controller;
        limit.add(chunk);
        controller.enqueue(chunk);
      },
      flush: () => limit.arrived(),
    }),
  );
  const { url, method, headers, signal } = request;
  const limited = new fetchAPI.Request(url, { method, headers, signal, body });
  return Object.assign(limited, { json: async () => parseBody(await limited.text()) });
};

const tooManyValues = () =>
  clientError('OPERATION_TOO_COMPLEX', `Expected a body of at most ${MAX_VALUES} JSON values, got more.`, {
    http: { status: 413 },
  });

const tooManyShapes = () =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected a body whose JSON objects have at most ${MAX_SHAPES} shapes, got more.`,
    { http: { status: 413 } },
  );

const overMemoryLimit = () =>
  clientError('OPERATION_TOO_COMPLEX', 'Too many large requests are being received at once.', {
    http: { status: 503, headers: { 'retry-after': '5' } },
  });
