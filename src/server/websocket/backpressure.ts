import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** More than most answers have. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Stops reading from a peer while it does not read its answers: they would pile up in memory. */
export const pauseReadsWhileBlocked = (webSocket: WebSocket, stream: Duplex): void => {
  webSocket.on('message', () => {
    if (webSocket.isPaused || stream.writableLength < MAX_UNSENT_BYTES) return;
    webSocket.pause();
    stream.once('drain', () => webSocket.resume());
  });
};

const drains = new WeakMap<Duplex, Promise<void>>();

/** Resolves when the stream has drained or closed. All callers share two listeners: Node warns of a leak at more than ten. */
const drainedOrClosed = (stream: Duplex): Promise<void> => {
  const known = drains.get(stream);
  if (known) return known;
  const drained = new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      drains.delete(stream);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
  drains.set(stream, drained);
  return drained;
};

/** Resolves when little enough is unsent for another operation to begin, or when the stream has closed. */
export const untilDrained = async (stream: Duplex): Promise<void> => {
  while (stream.writableLength >= MAX_UNSENT_BYTES && !stream.destroyed) await drainedOrClosed(stream);
};
