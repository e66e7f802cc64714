/** How many bytes may be held at a time, by all holders together. */
export class MemoryBudget {
  readonly #maxBytes: number;
  #used = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What one holder holds; nothing to begin with. */
  enter(): Hold {
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
      leave: () => {
        this.#used -= held;
        held = 0;
      },
    };
  }
}

export type Hold = {
  /** False, and nothing is held more, where there is no room for so many more bytes. */
  readonly grow: (bytes: number) => boolean;
  /** Gives back so many of the bytes that it holds. */
  readonly shrink: (bytes: number) => void;
  readonly leave: () => void;
};
