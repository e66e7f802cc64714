import { ownBytes } from '../../lib/memory/own-bytes.ts';

/** A text in the memory of the kernel. */
export type Span = { readonly address: number; readonly length: number };

/** Most images are smaller. */
const FIRST_BYTES = 2048;

/** Builds what the kernel has at a fixed region of its memory: words and texts. Throws RangeError where it has no room. */
export class Image {
  readonly #address: number;
  readonly #capacity: number;
  #bytes = Buffer.alloc(FIRST_BYTES);
  #used = 0;

  constructor(address: number, end: number) {
    this.#address = address;
    this.#capacity = end - address;
  }

  /** Returns the address of so many bytes, which are 0. */
  allocate(bytes: number): number {
    const address = this.#address + this.#used;
    this.#used += (bytes + 3) & ~3;
    if (this.#used > this.#capacity) throw new RangeError('The kernel has no room for this.');
    if (this.#used > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * this.#used);
    return address;
  }

  /** Writes words of four bytes from `address` on. */
  set(address: number, ...words: readonly number[]): void {
    for (const [index, word] of words.entries())
      this.#bytes.writeUInt32LE(word >>> 0, address - this.#address + index * 4);
  }

  text(text: string): Span {
    const length = Buffer.byteLength(text);
    const address = this.allocate(length);
    this.setText(address, text);
    return { address, length };
  }

  setText(address: number, text: string): void {
    this.#bytes.write(text, address - this.#address);
  }

  /** Returns what has been written. Nothing may be written after that. */
  finish(): Buffer {
    return ownBytes(this.#bytes.subarray(0, this.#used));
  }
}
