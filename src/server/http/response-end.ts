import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What happens when a response ends: callbacks are called, the rest of the request is discarded, the next request starts. */

const CALLBACKS = Symbol('callbacks of a response');

/** A response that has listeners to its end. A weak map of all responses would cost the collector of garbage more. */
type WatchedResponse = ServerResponse & { [CALLBACKS]?: (() => void)[] };

/**
 * Calls `callback` once the response was sent or its connection has closed; at once when it already has. All callbacks of
 * a response share one listener: Node warns of a leak at more than ten, and an event stream adds some of its own.
 */
export const onResponseClosed = (response: ServerResponse, callback: () => void): void => {
  if (response.closed) callback();
  else callbacksFor(response).push(callback);
};

const callbacksFor = (response: WatchedResponse): (() => void)[] => {
  const known = response[CALLBACKS];
  if (known) return known;
  const callbacks: (() => void)[] = [];
  response[CALLBACKS] = callbacks;
  // A response closes once.
  response.on('close', () => {
    for (const callback of callbacks) callback();
  });
  return callbacks;
};

/** Returns a signal that aborts when the connection closes before the response was sent. */
export const disconnectedSignalOf = (response: ServerResponse): AbortSignal => {
  const disconnected = new AbortController();
  onResponseClosed(response, () => response.writableFinished || disconnected.abort());
  return disconnected.signal;
};

/** How long the rest of a body is read and discarded after an early response. */
const LINGER_MS = 1000;

/**
 * Closes the connection of a request that was answered before all of its body arrived. It closes after a second, in which
 * Node discards what arrives: a client that is still sending would get a reset instead of the response.
 */
export const closeAfterEarlyResponse = (request: IncomingMessage, response: ServerResponse): void => {
  // After the response, neither the request nor the response refers to the socket any more.
  const { socket } = request;
  // A response finishes once: a listener that removes itself would cost each request more.
  response.prependListener('finish', () => {
    if (request.complete) return;
    // Node calls `destroySoon` at once where the client wants no further response.
    socket.destroySoon = () => socket.end();
    const closeSocket = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once('end', () => clearTimeout(closeSocket));
  });
};

/** Starts a request when the requests before it on its connection are answered. */
export type RequestQueue = (request: IncomingMessage, response: ServerResponse, start: () => void) => void;

/** Runs pipelined requests of one connection one after another: else the responses to later ones would wait in memory. */
export const createRequestQueue = (): RequestQueue => {
  const newest = new WeakMap<Socket, ServerResponse>();
  return ({ socket }, response, start) => {
    const before = newest.get(socket);
    newest.set(socket, response);
    if (before === undefined) start();
    else onResponseClosed(before, start);
  };
};
