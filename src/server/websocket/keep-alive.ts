import type { WebSocket } from 'ws';
import { createStaggeredInterval } from '../../lib/scheduling/staggered-interval.ts';

const PING_EVERY_MS = 12_000;
/** The operating system of a slow reader may still hold the data in front of its ping. */
const MAX_MISSED_PONGS = 5;

/**
 * Pings each socket once in an interval, and terminates a socket whose peer has been silent for about a minute. A socket
 * with unsent data is not pinged, since the ping would queue behind it; server/http/unsent-limit.ts cuts peers that stall.
 */
export type KeepAlive = {
  /** Pings the socket from now on, until it closes. */
  add(socket: WebSocket): void;
  stop(): void;
};

/** The pings of 20,000 sockets are spread over the interval: in one turn, so many writes would block the event loop. */
export const createKeepAlive = (everyMs = PING_EVERY_MS): KeepAlive => {
  const interval = createStaggeredInterval(everyMs);
  return {
    add(socket) {
      let missedPongs = 0;
      const remove = interval.add(() => {
        if (socket.bufferedAmount > 0) missedPongs = 0;
        else if (missedPongs === MAX_MISSED_PONGS) socket.terminate();
        else {
          missedPongs += 1;
          if (socket.readyState === socket.OPEN) socket.ping();
        }
      });
      socket.on('pong', () => {
        missedPongs = 0;
      });
      socket.once('close', remove);
    },
    stop: interval.stop,
  };
};
