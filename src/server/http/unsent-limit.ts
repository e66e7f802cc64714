import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Plugin } from 'graphql-yoga';
import type { Clock } from '../../lib/clock.ts';
import { readTcpQueues, type TcpQueues } from '../../lib/tcp-queues.ts';

/** Why a connection was cut: its peer took nothing, or all connections together left too much. */
type CutReason = 'stalled' | 'crowded';

/**
 * Cuts connections whose peers do not take what they are sent: one that takes nothing of an answer for half a minute;
 * and where all together leave more than `maxBytes` of answers in the gateway's memory, those that leave most for longest.
 * A peer that is taking its answer is cut for the others only where they leave twice as much.
 */
export type UnsentLimit = {
  watch(server: Server): void;
  /** Holds all to their limit when much of an answer that was written to the socket is left. */
  wrote(socket: Socket | null | undefined): void;
};

/** Of an answer. */
const STALL_MS = 30_000;
/**
 * Longer where only an event of a subscription waits: a subscription has one at a time. Longer too where the peer was seen
 * to take some of what the operating system holds: a slow peer may take that long for one step of 64 KB or more.
 */
const PATIENT_STALL_MS = 60_000;
const CHECK_EVERY_MS = 1000;
/** After so long the operating system is asked whether the peer takes any of what it holds, which may be megabytes. */
const SUSPECT_MS = 5000;
const MUCH_BYTES = 64 * 1024;
/** A connection whose peer has taken some within this time is cut only where all together leave twice `maxBytes`. */
const LATELY_MS = 3000;

/** `maxBytes` must have room for the largest answer, of which the peer has taken nothing when it has just been written. */
export const createUnsentLimit = (
  maxBytes: number,
  onCut: (reason: CutReason, bytes: number) => void,
  now: Clock,
): UnsentLimit => {
  const connections = new Map<Socket, Progress>();
  /** Those that were left with much of an answer. An event of a subscription is not one: many connections share it. */
  const pending = new Set<Socket>();
  const destroy = (socket: Socket, reason: CutReason): void => {
    onCut(reason, socket.writableLength);
    // A reset has the operating system drop what it holds; `destroy` does not.
    socket.resetAndDestroy();
  };

  /** Whether any peer has taken nothing for some seconds. */
  const cutStalled = (queues: TcpQueues | null): boolean => {
    let isAnySuspect = false;
    for (const [socket, progress] of connections) {
      const quietMs = progress.quietMs(queues);
      const isPatient = progress.isSlow || !pending.has(socket);
      if (quietMs >= (isPatient ? PATIENT_STALL_MS : STALL_MS)) destroy(socket, 'stalled');
      else isAnySuspect ||= quietMs >= SUSPECT_MS;
    }
    return isAnySuspect;
  };

  const cutLargest = (): void => {
    let total = 0;
    const behind: { readonly socket: Socket; readonly unsentBytes: number; readonly isTaking: boolean }[] =
      [];
    for (const socket of pending) {
      const { writableLength: bytes } = socket;
      if (bytes === 0) {
        pending.delete(socket);
        continue;
      }
      total += bytes;
      const quietMs = connections.get(socket)?.quietMs(null) ?? 0;
      behind.push({ socket, unsentBytes: bytes * (quietMs + CHECK_EVERY_MS), isTaking: quietMs < LATELY_MS });
    }
    behind.sort((one, other) => other.unsentBytes - one.unsentBytes);
    for (const { socket, isTaking } of behind) {
      if (total <= (isTaking ? 2 * maxBytes : maxBytes)) continue;
      total -= socket.writableLength;
      destroy(socket, 'crowded');
    }
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
      const check = async (isAnySuspect: boolean): Promise<void> => {
        const isStill = cutStalled(isAnySuspect ? await readTcpQueues() : null);
        cutLargest();
        if (!isClosed) timer = setTimeout(check, isStill ? SUSPECT_MS : CHECK_EVERY_MS, isStill).unref();
      };
      timer = setTimeout(check, CHECK_EVERY_MS, false).unref();
      server.once('close', () => {
        isClosed = true;
        clearTimeout(timer);
      });
    },
    wrote(socket) {
      if (!socket || socket.writableLength <= MUCH_BYTES) return;
      pending.add(socket);
      cutLargest();
    },
  };
};

/** For answers by HTTP; WebSockets call `wrote` themselves. */
export const useUnsentLimit = ({ wrote }: UnsentLimit): Plugin => ({
  onResponse({ serverContext }) {
    const { res } = serverContext as { readonly res?: ServerResponse };
    // The answer is written after this hook.
    if (res) setImmediate(() => wrote(res.socket));
  },
});

/** How far a peer has come in taking what it is sent. */
class Progress {
  readonly #socket: Socket;
  readonly #now: Clock;
  /** Bytes that the operating system has taken, of whole writes. */
  #taken = 0;
  /** Bytes of the write under way that it has not. */
  #left = 0;
  /** Bytes that it has taken and the peer has not; null until it was asked. */
  #held: number | null = null;
  #changedAt: number;
  /** Whether it was seen to take what the operating system holds, while that took nothing more. */
  isSlow = false;

  constructor(socket: Socket, now: Clock) {
    this.#socket = socket;
    this.#now = now;
    this.#changedAt = now();
  }

  /** Milliseconds for which nothing was taken; 0 where there is nothing to take. */
  quietMs(queues: TcpQueues | null): number {
    const now = this.#now();
    if (this.#socket.writableLength === 0) this.#held = null;
    if (this.#socket.writableLength === 0 || this.#hasChanged(queues)) this.#changedAt = now;
    return now - this.#changedAt;
  }

  #hasChanged(queues: TcpQueues | null): boolean {
    const { bytesWritten, writableLength, localPort = 0, remotePort = 0 } = this.#socket;
    const [taken, left, held] = [this.#taken, this.#left, this.#held];
    this.#taken = bytesWritten - writableLength;
    this.#left = leftOfWrite(this.#socket);
    if (queues !== null) this.#held = queues.of(localPort, remotePort);
    const isTakenFromSystem = held !== null && this.#held !== held;
    this.isSlow ||= isTakenFromSystem;
    return isTakenFromSystem || this.#taken !== taken || this.#left !== left;
  }
}

/** Node counts what is left of one big write in an undocumented property. Where there is none, a write counts as a whole. */
const leftOfWrite = (socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }) =>
  socket._handle?.writeQueueSize ?? 0;
