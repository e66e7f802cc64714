import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hex } from '../types.ts';

/** A deterministic pseudorandom generator, seeded by a label (sfc32: 128 bits of state, 32 bits a step). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(label: string) {
    const seed = digestOf(label);
    this.#a = seed.readInt32BE(0);
    this.#b = seed.readInt32BE(4);
    this.#c = seed.readInt32BE(8);
    this.#counter = seed.readInt32BE(12);
  }

  /** The next 32 bits, as an unsigned integer. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A fraction from 0 (included) to 1 (excluded). */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /**
   * An item, each with the same probability.
   * @throws when the list is empty.
   */
  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('expected a list with items, got an empty list');
    return item;
  }

  /**
   * An item, with a probability in proportion to its weight.
   * @throws when no weight is positive.
   */
  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    let left = this.fraction() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of choices) {
      left -= weight;
      if (left < 0) return item;
    }
    throw new Error('expected a choice of positive weight, got none');
  }

  bytes(length: number): Hex {
    const words = Buffer.alloc(Math.ceil(length / 4) * 4);
    for (let at = 0; at < length; at += 4) words.writeUInt32BE(this.next(), at);
    return `0x${words.toString('hex', 0, length)}`;
  }
}

const digestOf = (label: string): Buffer => Buffer.from(keccak_256(Buffer.from(label)).buffer);

/** The keccak-256 of a text's UTF-8 bytes. */
export const hashOf = (label: string): Hex => `0x${digestOf(label).toString('hex')}`;

/** A made-up address without a private key, always the same for one label. */
export const addressOf = (label: string): Hex => `0x${hashOf(label).slice(-40)}`;
