import type { FetchAPI } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';
import { parseInSlices } from '../../../lib/json/parse-in-slices.ts';
import { MAX_SHAPES, TooManyShapesError } from '../../../lib/json/shapes.ts';
import { JsonSize } from '../../../lib/json/size-scanner.ts';
import { createMemoryBudget } from '../../../lib/memory-budget.ts';
import { onResponseClosed } from '../../http/response-end.ts';
import type { ServerPlugin } from '../server-context.ts';

/** The memory limit for all requests of one transport, from the first byte of each until it is answered. */
const MAX_BYTES = 64 * 1024 * 1024;
/** A smaller request reserves nothing: large requests of some clients must not keep out the ordinary ones of others. */
const EXEMPT_BYTES = 64 * 1024;

/** The least memory that a JSON value counts for. Parsed, an empty object takes about twice as much. */
const BYTES_A_VALUE = 32;
/** The least length of a JSON value, with the comma behind it. */
const MIN_BYTES_A_VALUE = 2;

/** The most values of a body. 8 MB hold a list of 180,000 addresses. */
const MAX_VALUES = 250_000;

/** The memory of the requests of one transport. */
export type RequestMemory = { reserve(): RequestReservation };

export type RequestReservation = {
  /** Reserves so many bytes in all for the request. Returns false, and reserves no more, where they don't fit. */
  growTo(bytes: number): boolean;
  /** Releases all bytes for good. */
  release(): void;
};

export const createRequestMemory = (): RequestMemory => {
  const budget = createMemoryBudget(MAX_BYTES);
  return {
    reserve() {
      const { tryGrow, release } = budget.reserve();
      let reserved = 0;
      return {
        growTo(bytes) {
          if (bytes <= EXEMPT_BYTES || bytes <= reserved) return true;
          if (!tryGrow(bytes - reserved)) return false;
          reserved = bytes;
          return true;
        },
        release,
      };
    },
  };
};

const estimatedBytes = ({ bytes, values }: JsonSize): number => Math.max(bytes, values * BYTES_A_VALUE);

/** Whether a text of so many bytes is exempt, whatever JSON is in it. */
const isExempt = (bytes: number): boolean => (bytes / MIN_BYTES_A_VALUE) * BYTES_A_VALUE <= EXEMPT_BYTES;

/** The memory that a JSON text and its values take, in bytes. */
export const estimatedBytesOfText = (text: string): number =>
  isExempt(text.length) ? text.length : estimatedBytes(new JsonSize().add(Buffer.from(text)));

/**
 * Bounds the memory of large HTTP requests from their first byte until they are answered. A body may take half a minute to
 * arrive, longer to be answered, and its client is unknown until it is read. A body that does not fit is rejected with
 * 503, and one of too many values with 413, before the rest of it is read. JSON is parsed in slices.
 */
export const useRequestMemory = (): ServerPlugin => {
  const requestMemory = createRequestMemory();
  return {
    onRequestParse({ request, requestParser, setRequestParser, serverContext: { res }, fetchAPI }) {
      if (!requestParser || !res || isSmall(request)) return;
      const reservation = requestMemory.reserve();
      onResponseClosed(res, reservation.release);
      const check = (size: JsonSize): void => {
        if (size.values > MAX_VALUES) throw tooManyValues();
        if (!reservation.growTo(estimatedBytes(size))) throw overMemoryLimit();
      };
      setRequestParser((whole) => requestParser(checkedRequest(whole, check, fetchAPI)));
    },
  };
};

/** Whether the request says that it is exempt. A chunked body has no Content-Length, so it isn't. */
const isSmall = ({ method, headers }: Request): boolean => {
  const length = headers.get('content-length');
  return method === 'GET' || (length !== null && isExempt(Number(length)));
};

/** The same request; `check` is called with the size of the body so far before each chunk is stored. */
const checkedRequest = (request: Request, check: (size: JsonSize) => void, fetchAPI: FetchAPI): Request => {
  if (!request.body) return request;
  const size = new JsonSize();
  const body = request.body.pipeThrough(
    new fetchAPI.TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        check(size.add(chunk));
        controller.enqueue(chunk);
      },
    }),
  );
  const { url, method, headers, signal } = request;
  const checked = new fetchAPI.Request(url, { method, headers, signal, body });
  return Object.assign(checked, { json: async () => parseBody(await checked.text()) });
};

const parseBody = async (text: string): Promise<unknown> => {
  try {
    return await parseInSlices(text);
  } catch (error) {
    throw error instanceof TooManyShapesError ? tooManyShapes() : error;
  }
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
