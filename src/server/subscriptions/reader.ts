import type { EventReader } from '../../streams/event-source.ts';
import type { Frame } from './frame.ts';

/** A subscriber's reader that counts as an open subscription until it is closed. */
export class CountedReader implements EventReader<Frame> {
  readonly #reader: EventReader<Frame>;
  readonly #release: () => void;

  /** `release` is called at each `close`. */
  constructor(reader: EventReader<Frame>, release: () => void) {
    this.#reader = reader;
    this.#release = release;
  }

  take(): Frame | null {
    return this.#reader.take();
  }

  close(): void {
    this.#release();
    this.#reader.close();
  }
}

/** A reader that tells its subscriber why there is nothing to read. */
export class RefusedReader implements EventReader<Frame> {
  readonly #refusal: unknown;

  constructor(refusal: unknown) {
    this.#refusal = refusal;
  }

  take(): Frame | null {
    throw this.#refusal;
  }

  close(): void {}
}
