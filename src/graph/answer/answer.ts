import type { GraphQLError } from 'graphql';
import { onAbort } from '../../lib/abort.ts';
import { createMemoryBudget, type MemoryBudget, type Reservation } from '../../lib/memory-budget.ts';
import { createTimeSlices, type TimeSlices } from '../../lib/time-slices.ts';
import { answerLimitReached } from './errors.ts';
import type { AnswerEstimate } from './estimate.ts';
import { SlicedList, type SliceTurns } from './sliced-list.ts';
import { type Weight, weightOfJson } from './weight.ts';

/** What the answers of all operations share. */
export type Answers = {
  /** What one answer may weigh, in bytes. */
  readonly maxBytes: number;
  readonly slices: TimeSlices;
  /** For heavy answers while they are made: half of `maxBytes`, or one answer. Their values take several times their text. */
  readonly memory: MemoryBudget;
};

export const createAnswers = (maxBytes: number): Answers => ({
  maxBytes,
  slices: createTimeSlices(),
  memory: createMemoryBudget(maxBytes / 2),
});

/** A heavier answer is written in slices, and waits its turn where many such are made. */
const LIGHT_BYTES = 256 * 1024;

/** A list of at most so many items is completed in one go. */
const FEW = 50;

/** What each value of an answer counts for at least: in memory it takes several times its text. */
const BYTES_A_VALUE = 16;

/** What the answer to one operation, or one event, weighs so far, and whether it may go on being made. */
export class Answer implements SliceTurns {
  readonly #answers: Answers;
  readonly #clientSignal: AbortSignal | null;
  /** Null while the answer is light. */
  #reservation: Reservation | null = null;
  readonly #weights = new WeakMap<object, Weight>();
  #bytes = 0;
  #values = 0;
  #hasEnded = false;
  /** What it was estimated at before it was made; null for an event. */
  estimate: AnswerEstimate | null = null;
  /** Why it is not made to its end; null while it may be. */
  refusal: GraphQLError | null = null;
  /** Whether anything was left out of it. Such an answer is never sent. */
  isCut = false;

  /** `clientSignal` aborts when the client has left. */
  constructor(answers: Answers, clientSignal: AbortSignal | null) {
    this.#answers = answers;
    this.#clientSignal = clientSignal;
  }

  get maxBytes(): number {
    return this.#answers.maxBytes;
  }

  get isHeavy(): boolean {
    return this.#reservation !== null;
  }

  /** Counts so much text, of so many values. Once that is more than an answer may weigh, the answer is refused. */
  add(bytes: number, values: number): void {
    const before = this.#weight;
    this.#bytes += bytes;
    this.#values += values;
    const weight = this.#weight;
    if (weight <= LIGHT_BYTES || this.isOver) return;
    if (this.#reservation) this.#reservation.grow(weight - before);
    else this.#enter(weight);
    if (weight > this.maxBytes) this.refuse();
  }

  refuse(): void {
    this.refusal ??= answerLimitReached(this.maxBytes, this.estimate);
  }

  /** As `add`, for any JSON value. A large one that comes again is not looked through again. */
  addJson(bytesBeside: number, value: object): void {
    const weight = this.#weights.get(value) ?? weightOfJson(value);
    if (weight.values > FEW) this.#weights.set(value, weight);
    this.add(bytesBeside + weight.bytes, weight.values);
  }

  /** Whether a list of so many items may be completed in one go, now. */
  hasTurnFor(items: number): boolean {
    return items <= FEW && this.hasTurn;
  }

  /** Gives the executor what `read` makes of each item, but undefined. Of a long list, an item is read in its turn. */
  list<Item, Given>(
    items: readonly Item[],
    read: (item: Item) => Given | undefined,
  ): readonly Given[] | SlicedList<Item, Given> {
    if (!this.hasTurnFor(items.length)) return new SlicedList(this, items, read);
    return items.map(read).filter((given) => given !== undefined);
  }

  /** Gives the executor items that may each take long: each in its turn. */
  sliced<Item>(items: readonly Item[]): SlicedList<Item> {
    return new SlicedList(this, items, same);
  }

  /**
   * Whether nothing is added to it any more: it was refused, its client has gone, or it has ended. Fields may still
   * resolve then, where the failure of another has ended the operation.
   */
  get isOver(): boolean {
    return this.#hasEnded || this.refusal !== null || this.#clientSignal?.aborted === true;
  }

  cut(): void {
    this.isCut = true;
  }

  /** Whether it may go on at once; else `turn` resolves when it may. */
  get hasTurn(): boolean {
    return this.isOver || (this.#isAvailable && !this.#answers.slices.isOver());
  }

  async turn(): Promise<void> {
    while (!this.hasTurn) {
      if (this.#isAvailable) await this.#answers.slices.next(this);
      else await this.#reservation?.available();
    }
  }

  /** Gives its memory back, however it ended. */
  end(): void {
    this.#hasEnded = true;
    this.#reservation?.release();
  }

  get #weight(): number {
    return Math.max(this.#bytes, this.#values * BYTES_A_VALUE);
  }

  get #isAvailable(): boolean {
    return this.#reservation?.isAvailable() ?? true;
  }

  #enter(weight: number): void {
    const reservation = this.#answers.memory.reserve();
    reservation.grow(weight);
    this.#reservation = reservation;
    // An answer that waits for room stops waiting once its client has left.
    onAbort(this.#clientSignal, () => reservation.release());
  }
}

const same = <Item>(item: Item): Item => item;
