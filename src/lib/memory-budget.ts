/**
 * A memory limit by refusal, where MemoryGate has tasks wait: a holder that asks for more bytes than are left gets none.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  #used = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a holder, which holds nothing to begin with. */
  reserve(): Reservation {
    let held = 0;
    return {
      grow: (bytes) => {
        // One holder always gets what it asks for while there is no other, however small the budget.
        if (this.#used > held && this.#used + bytes > this.#maxBytes) return false;
        this.#used += bytes;
        held += bytes;
        return true;
      },
      shrink: (bytes) => {
        this.#used -= bytes;
        held -= bytes;
      },
      release: () => {
        this.#used -= held;
        held = 0;
      },
    };
  }
}

export type Reservation = {
  /** Takes so many bytes more; false, and it takes none, where there is no room for them. */
  readonly grow: (bytes: number) => boolean;
  /** Gives back so many of the bytes that it holds. */
  readonly shrink: (bytes: number) => void;
  /** Gives back all the bytes that it holds. */
  readonly release: () => void;
};
