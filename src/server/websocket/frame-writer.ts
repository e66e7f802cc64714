import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import type { WebSocket } from 'ws';
import { RepeatedFrame, writeTextFrame } from './text-frame.ts';

/** The bytes of a batch that are collected before the operating system gets them. */
const MAX_BATCH_BYTES = 16_384;

/**
 * Writes messages whose payload is shared with other sockets, and queues writers while the peer has data to read
 * (backpressure). It writes to the stream below `ws`, because `ws` would copy each payload into a frame. Both may write to
 * the stream: without compression, `ws` keeps no state between two writes.
 */
export class FrameWriter {
  readonly #webSocket: WebSocket;
  readonly #stream: Socket;
  readonly #onAnswer: (stream: Socket) => void;
  readonly #queue: (() => void)[] = [];
  #isWaiting = false;
  #isBatching = false;
  #isJoining = false;

  /** `onAnswer` is called after an answer is written; the peer may not have read it by then. */
  constructor(webSocket: WebSocket, stream: Socket, onAnswer: (stream: Socket) => void) {
    this.#webSocket = webSocket;
    this.#stream = stream;
    this.#onAnswer = onAnswer;
  }

  /** Whether the peer may be sent more: all written data is with the operating system, or the current batch has room. */
  get isReady(): boolean {
    return this.#isOpen && this.#stream.writableLength < (this.#isBatching ? MAX_BATCH_BYTES : 1);
  }

  /**
   * Stops reading from the peer while it does not read its answers: they would pile up in memory. Called after each of its
   * messages.
   */
  pauseReadsWhileBlocked(): void {
    if (this.#webSocket.isPaused || this.#stream.writableLength < MAX_UNSENT_BYTES) return;
    this.#webSocket.pause();
    this.#stream.once('drain', () => this.#webSocket.resume());
  }

  /** Resolves when little enough is unsent for another operation to begin, or when the socket has closed. */
  untilDrained(): Promise<void> {
    return untilDrained(this.#stream);
  }

  /** Begins a batch: the operating system gets its frames in one write, at `flush()`. */
  batch(): void {
    if (this.#isBatching) return;
    this.#isBatching = true;
    this.#stream.cork();
  }

  flush(): void {
    if (!this.#isBatching) return;
    this.#isBatching = false;
    this.#stream.uncork();
  }

  /**
   * Sends a text message: the prefix, the parts of the payload, and the suffix, which must be ASCII. Calls `onWritten` once
   * the operating system has all of it, or the socket has closed.
   */
  send(prefix: string, payload: readonly Buffer[], suffix: string, onWritten?: () => void): void {
    writeTextFrame(this.#stream, prefix, payload, suffix, onWritten);
  }

  /** Sends a text message, as `send`, whose payload the sockets before and after it get too. */
  sendRepeated(prefix: string, payload: readonly Buffer[], suffix: string): void {
    repeated.write(this.#stream, prefix, payload, suffix);
  }

  /**
   * Joins all that is written before the present task and its promises have ended: an answer and the `complete` behind it
   * cost the operating systems of both ends one write.
   */
  join(): void {
    if (this.#isJoining) return;
    this.#isJoining = true;
    this.#stream.cork();
    nextTick(() => {
      this.#isJoining = false;
      this.#stream.uncork();
    });
  }

  /** Sends the answer to an operation, as `send`. */
  sendAnswer(prefix: string, payload: readonly Buffer[], suffix: string, onWritten: () => void): void {
    this.join();
    this.send(prefix, payload, suffix, onWritten);
    this.#onAnswer(this.#stream);
  }

  /** Sends an answer by `ws`, as `sendAnswer`. */
  sendWhole(data: string): void {
    this.join();
    this.#webSocket.send(data);
    this.#onAnswer(this.#stream);
  }

  /**
   * Calls back once the operating system has taken all written data and the earlier callbacks have run. Never calls back
   * after the socket closes.
   */
  onDrain(callback: () => void): void {
    this.#queue.push(callback);
    this.#wait();
  }

  #wait(): void {
    if (this.#isWaiting || this.#queue.length === 0 || !this.#isOpen) return;
    this.#isWaiting = true;
    // An empty write completes after all writes before it.
    this.#stream.write('', (error) => {
      this.#isWaiting = false;
      if (!error) this.#drainQueue();
    });
  }

  /** Round-robin: a callback that has more to send than the socket accepts queues again behind the others. */
  #drainQueue(): void {
    for (let remaining = this.#queue.length; remaining > 0 && this.isReady; remaining -= 1)
      this.#queue.shift()?.();
    this.#wait();
  }

  get #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }
}

const repeated = new RepeatedFrame();

/** More than most answers have. */
const MAX_UNSENT_BYTES = 1024 * 1024;

const drains = new WeakMap<Socket, Promise<void>>();

/** Resolves when the stream has drained or closed. All callers share two listeners: Node warns of a leak at more than ten. */
const drainedOrClosed = (stream: Socket): Promise<void> => {
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
const untilDrained = async (stream: Socket): Promise<void> => {
  while (stream.writableLength >= MAX_UNSENT_BYTES && !stream.destroyed) await drainedOrClosed(stream);
};
