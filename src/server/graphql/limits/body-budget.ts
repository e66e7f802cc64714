import type { ServerResponse } from 'node:http';
import type { FetchAPI, Plugin } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';
import { parseInSlices } from '../../../lib/json/parse-in-slices.ts';
import { MAX_SHAPES, TooManyShapesError } from '../../../lib/json/shapes.ts';
import { JsonSize } from '../../../lib/json/size-scanner.ts';
import { onResponseClosed } from '../../http/response-closed.ts';
import { createRequestMemory, estimatedBytes, isExempt } from './request-memory.ts';

/** A list of as many addresses as 8 MB hold has 180,000. */
const MAX_VALUES = 250_000;

/**
 * Bounds what big bodies hold from their first byte until they are answered: they may take half a minute to come, and
 * longer to be answered, and until they are there nobody knows whose they are. One that finds no room is refused with
 * 503, and one of too many values with 413, before the rest of it is read. Their JSON is parsed in slices.
 */
export const useBodyBudget = (): Plugin => {
  const requestMemory = createRequestMemory();
  return {
    onRequestParse({ request, requestParser, setRequestParser, serverContext, fetchAPI }) {
      const { res } = serverContext as { readonly res?: ServerResponse };
      if (!requestParser || !res || isOrdinary(request)) return;
      const reservation = requestMemory.reserve();
      onResponseClosed(res, reservation.release);
      const check = (size: JsonSize): void => {
        if (size.values > MAX_VALUES) throw tooManyValues();
        if (!reservation.grow(estimatedBytes(size))) throw overMemoryLimit();
      };
      setRequestParser((whole) => requestParser(checkedRequest(whole, check, fetchAPI)));
    },
  };
};

/** As far as it says: a body in chunks does not. */
const isOrdinary = ({ method, headers }: Request): boolean => {
  const length = headers.get('content-length');
  return method === 'GET' || (length !== null && isExempt(Number(length)));
};

/** The same request; `check` is told how much of its body has come, before that is kept. */
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
  const judgedRequest = new fetchAPI.Request(url, { method, headers, signal, body });
  return Object.assign(judgedRequest, { json: async () => parseBody(await judgedRequest.text()) });
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
  clientError('OPERATION_TOO_COMPLEX', 'Too many big requests are being received at once.', {
    http: { status: 503, headers: { 'retry-after': '5' } },
  });
