import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/deadlines.ts';
import type { Connections } from './exchange.ts';

/** Why a connection was cut: its peer read nothing, or all peers together left too much unread. */
type CutReason = 'stalled' | 'overLimit';

export type ConnectionObserver = {
  /** The connection of a slow reader is cut, with `unsentBytes` of its answers in memory. */
  cut?(reason: CutReason, unsentBytes: number): void;
};

/**
 * Cuts the connections of slow readers. A peer that reads nothing of what was written to it for a minute is cut. Where all
 * peers together leave more than `maxBytes` of answers in the gateway's memory, those that leave most for longest are cut. A
 * peer that is reading its answer is cut for the others only where they leave twice as much.
 */
export type UnsentLimit = {
  watch(server: Server, connections: Pick<Connections, 'onClosed'>): void;
  /** Enforces the memory limit after an answer was written to `socket`, when much of it is unsent. */
  wrote(socket: Socket | null | undefined): void;
  /** Whether more than `maxBytes` are unsent. */
  isExceeded(): boolean;
};

/** Times in milliseconds. */
export type UnsentTimes = {
  /** How long a peer may read nothing. The operating system takes data from the gateway in steps of up to a megabyte. */
  readonly stallMs: number;
  readonly checkEveryMs: number;
  /** A connection whose peer has read something within this time is cut only where all together leave twice `maxBytes`. */
  readonly activeMs: number;
};

export const UNSENT_TIMES: UnsentTimes = { stallMs: 60_000, checkEveryMs: 1000, activeMs: 3000 };

/** Less unsent data of a connection does not count against the memory limit. */
const LARGE_BYTES = 64 * 1024;

/** `maxBytes` must have room for the largest answer: right after it is written, its peer has read nothing of it. */
export const createUnsentLimit = (
  maxBytes: number,
  observer: ConnectionObserver,
  now: Clock,
  { stallMs, checkEveryMs, activeMs } = UNSENT_TIMES,
): UnsentLimit => {
  const open = new Set<Socket>();
  /** Of the connections that had something unsent when they were last looked at: most have not. */
  const progress = new Map<Socket, Progress>();
  /** The connections with a large unsent answer. An event of a subscription doesn't count: many connections share it. */
  const pending = new Set<Socket>();
  /** As last counted, and what was written since. */
  let unsentBytes = 0;
  const count = (): void => {
    unsentBytes = 0;
    for (const { writableLength } of pending) unsentBytes += writableLength;
  };
  const cut = (socket: Socket, reason: CutReason): void => {
    observer.cut?.(reason, socket.writableLength);
    // A reset discards the operating system's buffers; `destroy` does not.
    socket.resetAndDestroy();
  };

  const quietMs = (socket: Socket): number => {
    const known = progress.get(socket) ?? new Progress(socket, now);
    progress.set(socket, known);
    return known.quietMs();
  };

  const cutStalled = (): void => {
    for (const socket of open)
      if (socket.writableLength === 0) progress.delete(socket);
      else if (quietMs(socket) >= stallMs) cut(socket, 'stalled');
  };

  const cutLargest = (): void => {
    let total = 0;
    const behind: { readonly socket: Socket; readonly byteSeconds: number; readonly isReading: boolean }[] =
      [];
    for (const socket of pending) {
      const { writableLength: bytes } = socket;
      if (bytes === 0) {
        pending.delete(socket);
        continue;
      }
      total += bytes;
      const ms = quietMs(socket);
      behind.push({ socket, byteSeconds: bytes * (ms + checkEveryMs), isReading: ms < activeMs });
    }
    behind.sort((one, other) => other.byteSeconds - one.byteSeconds);
    for (const { socket, isReading } of behind) {
      if (total <= (isReading ? 2 * maxBytes : maxBytes)) continue;
      total -= socket.writableLength;
      cut(socket, 'overLimit');
    }
    unsentBytes = total;
  };

  return {
    watch(server, { onClosed }) {
      server.on('connection', (socket: Socket) => void open.add(socket));
      onClosed((socket) => {
        for (const sockets of [open, progress, pending]) sockets.delete(socket);
      });
      const timer = setInterval(() => {
        cutStalled();
        cutLargest();
      }, checkEveryMs).unref();
      server.once('close', () => clearInterval(timer));
    },
    wrote(socket) {
      if (!socket || socket.writableLength <= LARGE_BYTES) return;
      pending.add(socket);
      unsentBytes += socket.writableLength;
      // The operating system has taken most answers by then.
      setImmediate(cutLargest);
    },
    isExceeded() {
      if (unsentBytes > maxBytes) count();
      return unsentBytes > maxBytes;
    },
  };
};

/**
 * How far the operating system has taken what was written to a connection. The timeout of Node's sockets is no measure of
 * that: what the peer sends extends it, and Yoga turns it off for event streams.
 */
class Progress {
  readonly #socket: Socket;
  readonly #now: Clock;
  #taken = 0;
  #changedAt: number;

  constructor(socket: Socket, now: Clock) {
    this.#socket = socket;
    this.#now = now;
    this.#changedAt = now();
  }

  /** How long nothing was taken, in milliseconds. */
  quietMs(): number {
    const now = this.#now();
    const { bytesWritten, writableLength } = this.#socket;
    const taken = bytesWritten - writableLength - untakenBytesOf(this.#socket);
    if (taken !== this.#taken) this.#changedAt = now;
    this.#taken = taken;
    return now - this.#changedAt;
  }
}

/**
 * What is left of the write under way, which is often a whole answer. Node counts it in an undocumented property alone;
 * without that, a write would count once all of it is taken, and a peer that takes a minute for an answer would be cut.
 */
const untakenBytesOf = (
  socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null },
): number => socket._handle?.writeQueueSize ?? 0;
