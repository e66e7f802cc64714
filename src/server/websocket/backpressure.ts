import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** More than most answers have. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Reads nothing from a peer that does not take what it was answered: answers would pile up for it. */
export const pauseReadsWhileBlocked = (webSocket: WebSocket, stream: Duplex): void => {
  webSocket.on('message', () => {
    if (webSocket.isPaused || stream.writableLength < MAX_UNSENT_BYTES) return;
    webSocket.pause();
    stream.once('drain', () => webSocket.resume());
  });
};

const waits = new WeakMap<Duplex, Promise<void>>();

/** Resolves when the stream has drained or closed. All callers share two listeners: Node warns of a leak at more than ten. */
const drainedOrClosed = (stream: Duplex): Promise<void> => {
  const known = waits.get(stream);
  if (known) return known;
  const wait = new Promise<void>((resolve) => {
    const goOn = () => {
      stream.off('drain', goOn).off('close', goOn);
      waits.delete(stream);
      resolve();
    };
    stream.on('drain', goOn).on('close', goOn);
  });
  waits.set(stream, wait);
  return wait;
};

/** Resolves when its peer has taken enough for another operation to begin, or has gone. */
export const untilDrained = async (stream: Duplex): Promise<void> => {
  while (stream.writableLength >= MAX_UNSENT_BYTES && !stream.destroyed) await drainedOrClosed(stream);
};
