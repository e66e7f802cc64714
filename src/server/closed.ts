import type { ServerResponse } from 'node:http';

/** Calls back once the response has been sent or its client has gone; at once when that is so already. */
export const onceClosed = (response: ServerResponse, callback: () => void): void => {
  if (response.closed) callback();
  else response.once('close', callback);
};
