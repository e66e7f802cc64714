import type { Reader } from './reader.ts';

/** Readers that have taken all that they could, by their places. */
export class BlockedReaders<Item> {
  readonly #byPlace = new Map<string, Set<Reader<Item>>>();

  places(): string[] {
    return [...this.#byPlace.keys()];
  }

  has(place: string): boolean {
    return this.#byPlace.has(place);
  }

  add(place: string, reader: Reader<Item>): void {
    const readersHere = this.#byPlace.get(place) ?? new Set();
    this.#byPlace.set(place, readersHere.add(reader));
  }

  remove(reader: Reader<Item>): void {
    const { place } = reader;
    const readersHere = place === null ? undefined : this.#byPlace.get(place);
    if (readersHere?.delete(reader) && readersHere.size === 0 && place !== null) this.#byPlace.delete(place);
  }

  /** All who wait at the place, and wait no longer. */
  release(place: string): Iterable<Reader<Item>> {
    const readers = this.#byPlace.get(place) ?? [];
    this.#byPlace.delete(place);
    return readers;
  }

  /** Whoever waits at `from` waits at `to`. */
  move(from: string, to: string): void {
    if (from === to) return;
    for (const reader of this.release(from)) {
      reader.place = to;
      this.add(to, reader);
    }
  }
}
