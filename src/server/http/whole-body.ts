import { IncomingMessage } from 'node:http';
import { badUserInput } from '../../graph/errors.ts';

/**
 * A request whose body may be read in one piece, once Node's parser has pushed its end. The listeners and events of a
 * stream take as long as all checks of a small request.
 */
export class WholeRequest extends IncomingMessage {
  #whole: PromiseWithResolvers<Buffer> | null = null;

  /**
   * Resolves with the body. It must be small: nothing is read of it before it is complete. Rejects when the client
   * disconnects before that.
   */
  whole(): Promise<Buffer> {
    this.#whole ??= Promise.withResolvers();
    if (this.complete) this.#end(this.#whole);
    else if (this.destroyed) this.#whole.reject(incomplete());
    return this.#whole.promise;
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const takesMore = super.push(chunk, encoding);
    if (chunk === null && this.#whole) this.#end(this.#whole);
    return takesMore;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.complete) this.#whole?.reject(incomplete());
    super._destroy(error, callback);
  }

  #end(whole: PromiseWithResolvers<Buffer>): void {
    whole.resolve(this.read() ?? EMPTY);
  }
}

const EMPTY = Buffer.alloc(0);

/** The error of a body whose client has disconnected. No client reads it. */
export const incomplete = () => badUserInput('Expected a whole body, got a part of one.');
