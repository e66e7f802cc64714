import type { EventEmitter } from 'node:events';

/**
 * For a peer to take what it was told last, and the megabytes that may stand before it. Who is cut meanwhile loses
 * nothing: it comes back, and is told then.
 */
const CLOSE_TIMEOUT_MS = 10_000;

/** Cuts a connection whose peer was told why it ends, unless it closes by itself within ten seconds. */
export const destroyUnlessClosed = (connection: Pick<EventEmitter, 'once'>, destroy: () => void): void => {
  const timer = setTimeout(destroy, CLOSE_TIMEOUT_MS).unref();
  connection.once('close', () => clearTimeout(timer));
};
