import type { WebSocket } from 'ws';

const PING_EVERY_MS = 12_000;
/** Of a slow reader, the operating system may hold what stands before its ping. */
const MAX_MISSED_PONGS = 5;

/**
 * Pings all sockets at a steady pace, and drops those that have been silent for about a minute. A socket that has not
 * taken what it was sent is not pinged: the ping would stand behind that, and server/http/unsent-limit.ts cuts peers that stall.
 */
export const keepAlive = (sockets: ReadonlySet<WebSocket>, everyMs = PING_EVERY_MS): (() => void) => {
  const timeoutResult = new WeakMap<WebSocket, number>();
  const onPong = function (this: WebSocket) {
    timeoutResult.set(this, 0);
  };
  const timer = setInterval(() => {
    for (const socket of sockets) {
      const rounds = timeoutResult.get(socket);
      if (rounds === undefined) socket.on('pong', onPong);
      if (socket.bufferedAmount > 0) {
        timeoutResult.set(socket, 0);
        continue;
      }
      if (rounds === MAX_MISSED_PONGS) {
        socket.terminate();
        continue;
      }
      timeoutResult.set(socket, (rounds ?? 0) + 1);
      if (socket.readyState === socket.OPEN) socket.ping();
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
};
