import { badUserInput } from '../../graph/errors.ts';
import { IncomingMessage } from '../../lib/http.ts';

/**
 * A request whose body may be read in one piece, once Node's parser has pushed its end. The listeners and events of a
 * stream take as long as all checks of a small request.
 */
export class WholeRequest extends IncomingMessage {
  #reader: Reader | null = null;

  /**
   * Resolves with what `read` makes of the text of the body, or rejects with what it throws. The body must be small: nothing
   * is read of it before it is complete. Rejects when the client disconnects before that.
   */
  whole<Result>(read: (text: string) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const onText = (text: string): void => {
        try {
          resolve(read(text));
        } catch (error) {
          reject(error);
        }
      };
      if (this.complete) onText(this.#text());
      else if (this.destroyed) reject(incomplete());
      else this.#reader = { onText, reject };
    });
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const takesMore = super.push(chunk, encoding);
    if (chunk === null) this.#reader?.onText(this.#text());
    return takesMore;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.complete) this.#reader?.reject(incomplete());
    super._destroy(error, callback);
  }

  /** Each call of `read` returns one of the pieces that have arrived. */
  #text(): string {
    const first: Buffer | null = this.read();
    if (first === null || this.readableLength === 0) return first?.toString() ?? '';
    const pieces = [first];
    for (let piece = this.read(); piece !== null; piece = this.read()) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }
}

type Reader = { onText(text: string): void; reject(error: Error): void };

/** The error of a body whose client has disconnected. No client reads it. */
export const incomplete = () => badUserInput('Expected a whole body, got a part of one.');
