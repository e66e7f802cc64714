import type { ServerResponse } from 'node:http';

/**
 * Calls back once the response has been sent or its client has gone; at once when that is so already. However many wait
 * for it, there is one listener: Node takes more than ten for a leak, and an event stream has its own beside these.
 */
export const onResponseClosed = (response: ServerResponse, callback: () => void): void => {
  if (response.closed) callback();
  else waitingFor(response).push(callback);
};

const waiting = new WeakMap<ServerResponse, (() => void)[]>();

const waitingFor = (response: ServerResponse): (() => void)[] => {
  const known = waiting.get(response);
  if (known) return known;
  const callbacks: (() => void)[] = [];
  waiting.set(response, callbacks);
  response.once('close', () => {
    for (const callback of callbacks) callback();
  });
  return callbacks;
};
