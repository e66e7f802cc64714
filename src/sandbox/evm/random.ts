import type { Hex } from '../types.ts';
import { hashOf } from './address.ts';

/** A stream of numbers that only its label decides (sfc32: 128 bits of state, 32 bits a step). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(label: string) {
    const seed = hashOf(label);
    const word = (at: number) => Number.parseInt(seed.slice(2 + at * 8, 10 + at * 8), 16) | 0;
    this.#a = word(0);
    this.#b = word(1);
    this.#c = word(2);
    this.#counter = word(3);
  }

  /** 32 bits, unsigned. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** From 0 up to 1, without 1. */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /** @throws when there is nothing to pick from. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('expected something to pick from, got an empty list');
    return item;
  }

  /** Picks an entry as often as its weight says, in proportion to all weights. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    let left = this.fraction() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of choices) {
      left -= weight;
      if (left < 0) return item;
    }
    throw new Error('expected something of positive weight to choose, got nothing');
  }

  bytes(length: number): Hex {
    let digits = '';
    while (digits.length < length * 2) digits += this.next().toString(16).padStart(8, '0');
    return `0x${digits.slice(0, length * 2)}`;
  }
}
