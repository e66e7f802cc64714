import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { onResponseClosed } from './response-closed.ts';

/** Begins a request when those before it on its connection are answered. */
export type RequestQueue = (request: IncomingMessage, response: ServerResponse, begin: () => void) => void;

/** Pipelined requests of one connection run one after another: else the answers to the later ones would wait in memory. */
export const createRequestQueue = (): RequestQueue => {
  const newest = new WeakMap<Socket, ServerResponse>();
  return ({ socket }, response, begin) => {
    const before = newest.get(socket);
    newest.set(socket, response);
    if (before === undefined || before.closed) begin();
    else onResponseClosed(before, begin);
  };
};
