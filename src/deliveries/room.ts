import { unavailable } from './refusal.ts';

/** How many bytes of bodies may be held at a time, by all senders together. */
export class Room {
  readonly #maxBytes: number;
  #used = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What one sender holds; nothing to begin with. */
  enter(): Hold {
    let held = 0;
    return {
      grow: (bytes) => {
        // One body is always taken where there is no other, however small the room.
        if (this.#used > held && this.#used + bytes > this.#maxBytes) throw unavailable();
        this.#used += bytes;
        held += bytes;
      },
      leave: () => {
        this.#used -= held;
        held = 0;
      },
    };
  }
}

export type Hold = {
  /** Throws a Refusal, 503, when there is no room for so many more bytes. */
  readonly grow: (bytes: number) => void;
  readonly leave: () => void;
};
