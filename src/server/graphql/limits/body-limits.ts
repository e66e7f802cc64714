import type { ServerResponse } from 'node:http';
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
  /** Counts the body no longer. */
  release(): void;
};

/**
 * Bounds the memory of a large request from its first byte until it is answered. A body may take half a minute to arrive,
 * longer to be answered, and its client is unknown until it is read. A body that does not fit is rejected with 503, and one
 * of too many values with 413, before the rest of it is read.
 */
export const limitBody = (requestMemory: RequestMemory, response: ServerResponse): BodyLimit => {
  const { growTo, release } = requestMemory.reserve();
  onResponseClosed(response, release);
  const size = new JsonSize();
  return {
    add(chunk) {
      size.add(chunk);
      if (size.values > MAX_VALUES) throw tooManyValues();
      if (!growTo(estimatedBytes(size))) throw overMemoryLimit();
    },
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

/** Limits the bodies of HTTP requests that Yoga reads. */
export const useBodyLimits = (requestMemory: RequestMemory): ServerPlugin => ({
  onRequestParse({ request, requestParser, setRequestParser, serverContext: { res }, fetchAPI }) {
    const { method, headers } = request;
    if (!requestParser || !res || method === 'GET' || isSmallBody(headers.get('content-length'))) return;
    const limit = limitBody(requestMemory, res);
    setRequestParser((whole) => requestParser(limitedRequest(whole, limit, fetchAPI)));
  },
});

/** The same request, whose body counts while it is read. */
const limitedRequest = (request: Request, limit: BodyLimit, fetchAPI: FetchAPI): Request => {
  if (!request.body) return request;
  const body = request.body.pipeThrough(
    new fetchAPI.TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        limit.add(chunk);
        controller.enqueue(chunk);
      },
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
