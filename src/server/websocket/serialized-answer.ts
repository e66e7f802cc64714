import type { ExecutionResult } from 'graphql';
import { assembleJson, type SerializedData } from '../../graph/answer/serialize.ts';
import type { FrameWriter } from './shared-frame-writer.ts';

const DONE = { done: true, value: undefined } as const;

/**
 * An answer by WebSocket whose data is JSON already. It sends itself when graphql-ws iterates it, and gives graphql-ws its
 * end alone: graphql-ws would serialise the answer a second time.
 */
export class SerializedAnswer implements AsyncIterableIterator<never, undefined> {
  /** Null once it is sent. */
  #payload: Buffer | null;
  readonly #frameWriter: FrameWriter;
  readonly #id: string;

  constructor(
    { errors, ...result }: ExecutionResult,
    data: SerializedData,
    frameWriter: FrameWriter,
    id: string,
  ) {
    // In the order in which graphql-ws writes any other answer.
    this.#payload = assembleJson({ ...result, ...(errors && { errors }) }, data);
    this.#frameWriter = frameWriter;
    this.#id = id;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<never, undefined>> {
    const payload = this.#payload;
    this.#payload = null;
    if (payload)
      this.#frameWriter.answer(`{"id":${JSON.stringify(this.#id)},"type":"next","payload":`, payload, '}');
    return Promise.resolve(DONE);
  }

  return(): Promise<IteratorResult<never, undefined>> {
    this.#payload = null;
    return Promise.resolve(DONE);
  }
}
