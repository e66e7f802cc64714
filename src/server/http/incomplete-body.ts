import type { IncomingMessage, ServerResponse } from 'node:http';

const LINGER_MS = 1000;

/**
 * Closes the connection of a request that was answered before all of its body came. Not at once: a client that is still
 * sending would meet a reset instead of the answer. So for a moment node throws away what it sends.
 */
export const closeAfterEarlyResponse = (request: IncomingMessage, response: ServerResponse): void => {
  // Once it is answered, neither of the two knows its socket any more.
  const { socket } = request;
  response.prependOnceListener('finish', () => {
    if (request.complete) return;
    // By which Node would close at once where the client wants no other answer.
    socket.destroySoon = () => socket.end();
    const closeSocket = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once('end', () => clearTimeout(closeSocket));
  });
};
