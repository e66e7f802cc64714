import type { WebSocket } from 'ws';

const PING_EVERY_MS = 12_000;
/** The pings of 20,000 sockets are 170 writes in each slice. All of them in one turn would block the event loop. */
const SLICE_MS = 100;
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

type Peer = { readonly socket: WebSocket; missedPongs: number };

/** Spreads the pings evenly over the interval: each socket belongs to one of its slices. Default interval: 12 s. */
export const createKeepAlive = (everyMs = PING_EVERY_MS): KeepAlive => {
  const slices = Array.from({ length: Math.ceil(everyMs / SLICE_MS) }, () => new Set<Peer>());
  let added = 0;
  let current = 0;
  const timer = setInterval(() => {
    for (const peer of slices[current] ?? []) ping(peer);
    current = (current + 1) % slices.length;
  }, everyMs / slices.length).unref();
  return {
    add(socket) {
      const slice = slices[added % slices.length];
      added += 1;
      const peer = { socket, missedPongs: 0 };
      slice?.add(peer);
      socket.on('pong', () => {
        peer.missedPongs = 0;
      });
      socket.once('close', () => slice?.delete(peer));
    },
    stop: () => clearInterval(timer),
  };
};

const ping = (peer: Peer): void => {
  const { socket } = peer;
  if (socket.bufferedAmount > 0) peer.missedPongs = 0;
  else if (peer.missedPongs === MAX_MISSED_PONGS) socket.terminate();
  else {
    peer.missedPongs += 1;
    if (socket.readyState === socket.OPEN) socket.ping();
  }
};
