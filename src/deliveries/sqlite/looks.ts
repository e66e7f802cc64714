/** How much one search looks at: index entries and deliveries. */
export class Looks {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  get isSpent(): boolean {
    return this.#taken >= this.#most;
  }

  /** Counted after the fact, so that each search gets on. */
  take(count: number): void {
    this.#taken += count;
  }
}
