import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/deadlines.ts';

/** Why a connection was cut: its peer read nothing, or all peers together left too much unread. */
type CutReason = 'stalled' | 'overLimit';

export type ConnectionObserver = {
  /** The connection of a slow reader is cut, with `unsentBytes` of its answers in memory. */
  cut?(reason: CutReason, unsentBytes: number): void;
};

/**
 * Cuts the connections of slow readers. A peer that reads nothing of an answer for half a minute is cut. Where all peers
 * together leave more than `maxBytes` of answers in the gateway's memory, those that leave most for longest are cut. A
 * peer that is reading its answer is cut for the others only where they leave twice as much.
 */
export type UnsentLimit = {
  watch(server: Server): void;
  /** Enforces the memory limit after an answer was written to `socket`, when much of it is unsent. */
  wrote(socket: Socket | null | undefined): void;
  /** Whether more than `maxBytes` are unsent. */
  isExceeded(): boolean;
};

/** Times in milliseconds. */
export type UnsentTimes = {
  /** How long a peer may read nothing of an answer. */
  readonly stallMs: number;
  /**
   * How long it may where only an event of a subscription is unsent: a subscription has one at a time. The same holds for a
   * peer that was seen to read from the operating system's buffers: a slow peer may take that long for a step of 64 KB.
   */
  readonly longStallMs: number;
  readonly checkEveryMs: number;
  /** The stall after which the operating system is asked whether the peer reads from its buffers, which may hold megabytes. */
  readonly suspectMs: number;
  /** A connection whose peer has read something within this time is cut only where all together leave twice `maxBytes`. */
  readonly activeMs: number;
};

export const UNSENT_TIMES: UnsentTimes = {
  stallMs: 30_000,
  longStallMs: 60_000,
  checkEveryMs: 1000,
  suspectMs: 5000,
  activeMs: 3000,
};

/** Less unsent data of a connection does not count against the memory limit. */
const LARGE_BYTES = 64 * 1024;

/** `maxBytes` must have room for the largest answer: right after it is written, its peer has read nothing of it. */
export const createUnsentLimit = (
  maxBytes: number,
  observer: ConnectionObserver,
  now: Clock,
  times = UNSENT_TIMES,
): UnsentLimit => {
  const { stallMs, longStallMs, checkEveryMs, suspectMs, activeMs } = times;
  const connections = new Map<Socket, Progress>();
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

  /** Returns whether any peer has read nothing for `suspectMs`. */
  const cutStalled = (queues: TcpQueues | null): boolean => {
    let hasSuspect = false;
    for (const [socket, progress] of connections) {
      const quietMs = progress.quietMs(queues);
      const isTolerated = progress.isSlow || !pending.has(socket);
      if (quietMs >= (isTolerated ? longStallMs : stallMs)) cut(socket, 'stalled');
      else hasSuspect ||= quietMs >= suspectMs;
    }
    return hasSuspect;
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
      const quietMs = connections.get(socket)?.quietMs(null) ?? 0;
      behind.push({
        socket,
        byteSeconds: bytes * (quietMs + checkEveryMs),
        isReading: quietMs < activeMs,
      });
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
    watch(server) {
      server.on('connection', (socket: Socket) => {
        connections.set(socket, new Progress(socket, now));
        socket.once('close', () => {
          connections.delete(socket);
          pending.delete(socket);
        });
      });
      let isClosed = false;
      let timer: NodeJS.Timeout;
      const check = async (hasSuspect: boolean): Promise<void> => {
        const hasSuspectStill = cutStalled(hasSuspect ? await readTcpQueues() : null);
        cutLargest();
        if (!isClosed)
          timer = setTimeout(check, hasSuspectStill ? suspectMs : checkEveryMs, hasSuspectStill).unref();
      };
      timer = setTimeout(check, checkEveryMs, false).unref();
      server.once('close', () => {
        isClosed = true;
        clearTimeout(timer);
      });
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

/** How far a peer has read what was written to its connection. */
class Progress {
  readonly #socket: Socket;
  readonly #now: Clock;
  /** Bytes of whole writes that the operating system has accepted. */
  #accepted = 0;
  /** Bytes of the write under way that it has not accepted. */
  #unaccepted = 0;
  /** Bytes that it has accepted and the peer has not acknowledged; null while unknown. */
  #queued: number | null = null;
  #changedAt: number;
  /** Whether the peer was seen to read from the operating system's buffers while those accepted nothing more. */
  isSlow = false;

  constructor(socket: Socket, now: Clock) {
    this.#socket = socket;
    this.#now = now;
    this.#changedAt = now();
  }

  /** How long the peer has read nothing, in milliseconds; 0 when everything is sent. */
  quietMs(queues: TcpQueues | null): number {
    const now = this.#now();
    if (this.#socket.writableLength === 0) this.#queued = null;
    if (this.#socket.writableLength === 0 || this.#hasChanged(queues)) this.#changedAt = now;
    return now - this.#changedAt;
  }

  #hasChanged(queues: TcpQueues | null): boolean {
    const { bytesWritten, writableLength, localPort = 0, remotePort = 0 } = this.#socket;
    const [accepted, unaccepted, queued] = [this.#accepted, this.#unaccepted, this.#queued];
    this.#accepted = bytesWritten - writableLength;
    this.#unaccepted = unacceptedBytesOf(this.#socket);
    if (queues !== null) this.#queued = queues.of(localPort, remotePort);
    const isReadFromBuffers = queued !== null && this.#queued !== queued;
    this.isSlow ||= isReadFromBuffers;
    return isReadFromBuffers || this.#accepted !== accepted || this.#unaccepted !== unaccepted;
  }
}

/** What is left of a large write. Node counts it in an undocumented property; without it, a write counts as a whole. */
const unacceptedBytesOf = (
  socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null },
): number => socket._handle?.writeQueueSize ?? 0;

/** Linux's tables of the sockets of this network namespace, one line a socket. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/**
 * A socket's line: local address and port, remote address and port, state, and the bytes that its peer has not
 * acknowledged. Sockets are identified by their two ports; those that share both count as one.
 */
const LINE = /:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/g;

/** The bytes in the operating system's send buffer of each connection, which its peer has not acknowledged. */
type TcpQueues = { of(localPort: number, remotePort: number): number };

/** Reads the send buffers of all connections. Resolves with null on an operating system other than Linux. */
const readTcpQueues = async (): Promise<TcpQueues | null> => {
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
  if (tables.every((text) => text === '')) return null;
  const bytes = new Map<string, number>();
  for (const text of tables)
    for (const [, local = '', remote = '', queue = ''] of text.matchAll(LINE)) {
      const ports = `${local}${remote}`;
      bytes.set(ports, (bytes.get(ports) ?? 0) + Number.parseInt(queue, 16));
    }
  return { of: (local, remote) => bytes.get(`${hex(local)}${hex(remote)}`) ?? 0 };
};

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
