import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { untilDrained } from './backpressure.ts';
import { writeTextFrame } from './frames.ts';

/** So much is made ready before the operating system is asked whether it takes it. */
const MAX_BATCH_BYTES = 16_384;

/**
 * A socket's way out for frames that many sockets share. It goes past `ws`, whose own frames are whole each, to the
 * stream below it: without compression nothing of `ws` stands between two writes.
 */
export class FrameWriter {
  readonly #webSocket: WebSocket;
  readonly #stream: Duplex;
  readonly #onAnswer: () => void;
  readonly #queue: (() => void)[] = [];
  #isWaiting = false;
  #isBatching = false;

  /** `onAnswer` is called when an answer was written, of which much may be left to be taken. */
  constructor(webSocket: WebSocket, stream: Duplex, onAnswer: () => void) {
    this.#webSocket = webSocket;
    this.#stream = stream;
    this.#onAnswer = onAnswer;
  }

  /**
   * Whether the peer may be sent more: the operating system has taken all that was written, or is about to be given a
   * batch that has room.
   */
  get isReady(): boolean {
    return this.#isOpen && this.#stream.writableLength < (this.#isBatching ? MAX_BATCH_BYTES : 1);
  }

  /** Resolves when the peer has taken enough for another operation to begin, or has gone. */
  untilDrained(): Promise<void> {
    return untilDrained(this.#stream);
  }

  /** What is sent until `flush()` goes to the operating system at once. */
  batch(): void {
    this.#isBatching = true;
    this.#stream.cork();
  }

  flush(): void {
    if (!this.#isBatching) return;
    this.#isBatching = false;
    this.#stream.uncork();
  }

  /** Sends a text message of the three parts. */
  send(before: string, shared: Buffer, after: string): void {
    writeTextFrame(this.#stream, before, shared, after);
  }

  /** Sends the answer to an operation, which no other socket shares. */
  answer(before: string, payload: Buffer, after: string): void {
    this.send(before, payload, after);
    this.#onAnswer();
  }

  /** Calls back once all that was written is taken and it is the caller's turn; never, when the socket closes. */
  onDrain(ready: () => void): void {
    this.#queue.push(ready);
    this.#wait();
  }

  #wait(): void {
    if (this.#isWaiting || this.#queue.length === 0 || !this.#isOpen) return;
    this.#isWaiting = true;
    // Stands behind what was written.
    this.#stream.write('', (error) => {
      this.#isWaiting = false;
      if (!error) this.#drainQueue();
    });
  }

  /** Who has more to send than the socket takes goes to the end of the line. */
  #drainQueue(): void {
    for (let remaining = this.#queue.length; remaining > 0 && this.isReady; remaining -= 1)
      this.#queue.shift()?.();
    this.#wait();
  }

  get #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }
}
