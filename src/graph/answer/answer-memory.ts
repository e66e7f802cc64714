import { onAbort } from '../../lib/abort.ts';
import type { MemoryBudget, Reservation } from '../../lib/memory/memory-budget.ts';

/** The memory that an answer holds while it is made: none while it is light. */
export class AnswerMemory {
  readonly #budget: MemoryBudget;
  #reservation: Reservation | null = null;
  #bytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  get isHeld(): boolean {
    return this.#reservation !== null;
  }

  /** Whether the answer may be continued. Otherwise `available` resolves when it may, or when the memory is released. */
  get isAvailable(): boolean {
    return this.#reservation?.isAvailable() ?? true;
  }

  async available(): Promise<void> {
    await this.#reservation?.available();
  }

  /** Holds so many bytes, for the first time. They are released when `signal` aborts. */
  hold(bytes: number, signal: AbortSignal | null): void {
    const reservation = this.#budget.reserve();
    this.#reservation = reservation;
    this.grow(bytes);
    onAbort(signal, () => reservation.release());
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
    this.#reservation?.grow(bytes);
  }

  /** Returns so many bytes, or all that are held. */
  shrink(bytes: number): void {
    const returned = Math.min(bytes, this.#bytes);
    this.#bytes -= returned;
    this.#reservation?.shrink(returned);
  }

  /** Returns all bytes, for good. */
  release(): void {
    this.#reservation?.release();
  }
}
