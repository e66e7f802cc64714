import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { writeTextFrame } from './frames.ts';

/**
 * A socket's way out for frames that many sockets share. It goes past `ws`, whose own frames are whole each, to the
 * stream below it: without compression nothing of `ws` stands between two writes.
 */
export class Outlet {
  readonly #webSocket: WebSocket;
  readonly #stream: Duplex;
  #waiting: (() => void)[] = [];

  constructor(webSocket: WebSocket, stream: Duplex) {
    this.#webSocket = webSocket;
    this.#stream = stream;
  }

  /** Whether the operating system has taken all that was written, and the peer may be sent more. */
  get isReady(): boolean {
    return this.#isOpen && this.#stream.writableLength === 0;
  }

  /** Sends a text message of the three parts. */
  send(before: string, shared: Buffer, after: string): void {
    writeTextFrame(this.#stream, before, shared, after);
  }

  /** Calls back once all that was written is taken; never, when the socket closes. */
  whenReady(ready: () => void): void {
    if (this.#waiting.push(ready) > 1 || !this.#isOpen) return;
    // Stands in line behind what waits.
    this.#stream.write('', () => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const call of waiting) call();
    });
  }

  get #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }
}
