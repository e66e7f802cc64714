import type { ServerResponse } from 'node:http';
import type { FetchAPI, Plugin } from 'graphql-yoga';
import { clientError } from '../../graph/errors.ts';
import { onceClosed } from '../closed.ts';

/** Of the requests that are not answered yet, all together. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What takes no room: nobody's ordinary operation is kept out by the big bodies of others. */
const ORDINARY_BYTES = 64 * 1024;

/**
 * Bounds what big bodies hold from their first byte until they are answered: they may take half a minute to come, and
 * longer to be answered, and until they are there nobody knows whose they are. One that finds no room is refused with
 * 503 before the rest of it is read.
 */
export const useBodyRoom = (): Plugin => {
  let held = 0;
  const enter = (response: ServerResponse) => {
    let own = 0;
    onceClosed(response, () => {
      held -= own;
    });
    return (bytes: number): void => {
      // What was still on its way when the client went.
      if (response.closed) return;
      if (held + bytes > MAX_BYTES) throw noRoom();
      own += bytes;
      held += bytes;
    };
  };
  return {
    onRequestParse({ request, requestParser, setRequestParser, serverContext, fetchAPI }) {
      const { res } = serverContext as { readonly res?: ServerResponse };
      if (!requestParser || !res || isOrdinary(request)) return;
      const take = enter(res);
      setRequestParser((whole) => requestParser(counted(whole, take, fetchAPI)));
    },
  };
};

/** As far as it says: a body in chunks does not. */
const isOrdinary = ({ method, headers }: Request): boolean => {
  const length = headers.get('content-length');
  return method === 'GET' || (length !== null && Number(length) <= ORDINARY_BYTES);
};

/** The same request, whose body's bytes `take` is told of before they are kept, once they are more than ordinary. */
const counted = (request: Request, take: (bytes: number) => void, fetchAPI: FetchAPI): Request => {
  if (!request.body) return request;
  let size = 0;
  const body = request.body.pipeThrough(
    new fetchAPI.TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size > ORDINARY_BYTES) take(chunk.byteLength);
        controller.enqueue(chunk);
      },
    }),
  );
  const { url, method, headers, signal } = request;
  return new fetchAPI.Request(url, { method, headers, signal, body });
};

const noRoom = () =>
  clientError('OPERATION_TOO_COMPLEX', 'Too many big requests are being received at once.', {
    http: { status: 503, headers: { 'retry-after': '5' } },
  });
