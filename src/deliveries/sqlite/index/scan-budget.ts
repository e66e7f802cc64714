/** Counts the index entries and deliveries that one search looks at, against its limit. */
export class ScanBudget {
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

  /** Counted after the fact, so that every search makes progress. */
  take(count: number): void {
    this.#taken += count;
  }
}
