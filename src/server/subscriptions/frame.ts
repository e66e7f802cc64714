/** One event as its subscribers get it: executed and serialised once for all of them. */
export class Frame {
  readonly cursor: string;
  /** The result of its execution, as JSON. */
  readonly payload: Buffer;
  #eventStreamBlock: Buffer | null = null;

  constructor(cursor: string, payload: Buffer) {
    this.cursor = cursor;
    this.payload = payload;
  }

  /** As a server-sent event, whose id is the cursor. */
  get eventStreamBlock(): Buffer {
    this.#eventStreamBlock ??= Buffer.concat([
      Buffer.from(`id: ${this.cursor}\nevent: next\ndata: `),
      this.payload,
      Buffer.from('\n\n'),
    ]);
    return this.#eventStreamBlock;
  }
}
