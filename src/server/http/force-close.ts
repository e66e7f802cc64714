import type { EventEmitter } from 'node:events';

/**
 * For a peer to take what it was told last, and the megabytes that may stand before it. Who is cut meanwhile loses
 * nothing: it comes back, and is told then.
 */
const LAST_WORDS_MS = 10_000;

/** Cuts a connection whose peer was told why it ends, unless it closes by itself within ten seconds. */
export const cutUnlessClosed = (connection: Pick<EventEmitter, 'once'>, cut: () => void): void => {
  const timer = setTimeout(cut, LAST_WORDS_MS).unref();
  connection.once('close', () => clearTimeout(timer));
};
