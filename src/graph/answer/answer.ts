import type { FieldNode, GraphQLError } from 'graphql';
import { BufferLease, BufferPool } from '../../lib/buffers.ts';
import { onAbort } from '../../lib/deadlines.ts';
import { createMemoryBudget, type MemoryBudget, type Reservation } from '../../lib/memory-budget.ts';
import { createTimeSlices, type TimeSlices } from '../../lib/time-slices.ts';
import type { OperationEstimate } from '../cost/estimate.ts';
import { answerLimitReached, tooManyParts } from './errors.ts';
import { SlicedList, type SlicedWork, StreamedList, type Weight, weightOfJson } from './weights.ts';

/** What the answers of all operations share. */
export type Answers = {
  /** The maximum weight of one answer, in bytes. */
  readonly maxBytes: number;
  readonly slices: TimeSlices;
  /**
   * The memory of heavy answers while they are made: half of `maxBytes`, or one answer. Values take several times the
   * memory of their JSON. They are made one at a time, and slowly, while clients leave too much of other answers unread.
   */
  readonly memory: MemoryBudget;
  /** The buffers of written lists. */
  readonly buffers: BufferPool;
};

/** `isUnreadMemoryFull` returns whether clients leave too much of large answers unread. */
export const createAnswers = (maxBytes: number, isUnreadMemoryFull: () => boolean): Answers => ({
  maxBytes,
  slices: createTimeSlices(),
  memory: createMemoryBudget(maxBytes / 2, {
    isOn: isUnreadMemoryFull,
    bytesPerSecond: UNREAD_BYTES_PER_SECOND,
  }),
  buffers: new BufferPool(),
});

/** Clients of ordinary networks read what is made at this rate. */
const UNREAD_BYTES_PER_SECOND = 32 * 1024 * 1024;

/** An answer of more bytes is heavy: it is serialised in slices, and waits while heavy answers exceed their memory. */
const MAX_LIGHT_BYTES = 256 * 1024;

/** A list of more items is completed in slices. */
const MAX_UNSLICED_ITEMS = 50;

/**
 * The number of lookups that an operation starts in one turn of the event loop, however busy it is. They take about 20 ms.
 */
const MAX_UNSLICED_LOOKUPS = 1000;

/** The most parts that items of lists add whose lengths the estimate can't know. Beyond 16,000, graphql holds up the thread. */
const MAX_PARTS_OF_ITEMS = 10_000;

/** The least weight of a value: in memory it takes several times its JSON. */
const MIN_VALUE_BYTES = 16;

/** The weight of an error: it has a message, a path, places in the document and a stack. */
const ERROR_BYTES = 1024;

/** The weight so far of the answer to one operation, or of one event, and whether the answer may be continued. */
export class Answer implements SlicedWork {
  readonly #answers: Answers;
  readonly #clientSignal: AbortSignal | null;
  readonly #memory: AnswerMemory;
  /** Those of its large values; null while it has none. */
  #weights: WeakMap<object, Weight> | null = null;
  #bytes = 0;
  #values = 0;
  #partsOfItems = 0;
  #hasEnded = false;
  /** The lookups that the operation has begun. */
  lookups = 0;
  /** The estimate of the answer before the operation runs; null for an event. */
  estimate: OperationEstimate | null = null;
  /** Whether a list of the answer is written already, see graph/plan/. The data then has RawJson in it. */
  hasWrittenLists = false;
  /** The errors of the items of written lists. The executor has the others. */
  readonly itemErrors: GraphQLError[] = [];
  /** The memory of its written lists; null while it has none. */
  lease: BufferLease | null = null;
  #limitError: GraphQLError | null = null;
  /** Null until something waits for a part of the answer. */
  #stopping: AbortController | null = null;

  /** `clientSignal` aborts when the client has disconnected. */
  constructor(answers: Answers, clientSignal: AbortSignal | null) {
    this.#answers = answers;
    this.#memory = new AnswerMemory(answers.memory);
    this.#clientSignal = clientSignal;
  }

  /** The error of an answer that exceeds a limit; null while it does not. */
  get limitError(): GraphQLError | null {
    return this.#limitError;
  }

  /** Aborts when the answer exceeds a limit or its client disconnects: nobody needs what the operation is waiting for. */
  get stopSignal(): AbortSignal {
    if (this.#stopping === null) {
      const stopping = new AbortController();
      onAbort(this.#clientSignal, () => stopping.abort());
      if (this.#limitError || this.#clientSignal?.aborted) stopping.abort();
      this.#stopping = stopping;
    }
    return this.#stopping.signal;
  }

  get maxBytes(): number {
    return this.#answers.maxBytes;
  }

  get isHeavy(): boolean {
    return this.#memory.isHeld;
  }

  /** Whether the data is serialised before it is sent: it is heavy, or contains lists that are already written. */
  get needsSerializing(): boolean {
    return this.isHeavy || this.hasWrittenLists;
  }

  /** Adds JSON with this many bytes and values. An answer that exceeds `maxBytes` gets its `limitError`. */
  add(bytes: number, values: number): void {
    const before = this.#weight;
    this.#bytes += bytes;
    this.#values += values;
    const weight = this.#weight;
    if (weight <= MAX_LIGHT_BYTES || this.isStopped) return;
    if (this.isHeavy) this.#memory.grow(weight - before);
    else this.#memory.hold(weight, this.#clientSignal);
    if (weight > this.maxBytes) this.exceedLimit();
  }

  /** Adds errors of fields, each of which says why one is null. */
  addErrors(count: number): void {
    if (count > 0) this.add(count * ERROR_BYTES, count);
  }

  /** Stops the answer, as one of more than `maxBytes`. */
  exceedLimit(): void {
    this.#stop(answerLimitReached(this.maxBytes, this.estimate));
  }

  /** Counts the later parts of a list with this many items. An answer that exceeds their limit gets its `limitError`. */
  addPartsOfItems(uses: readonly FieldNode[], items: number): void {
    const perItem = this.estimate?.partsPerItem;
    if (!perItem) return;
    for (const node of uses) this.#partsOfItems += items * (perItem.get(node) ?? 0);
    if (this.#partsOfItems > MAX_PARTS_OF_ITEMS)
      this.#stop(
        tooManyParts(
          `${MAX_PARTS_OF_ITEMS} deferred fragments and streamed lists in the items of lists`,
          this.#partsOfItems,
        ),
      );
  }

  /** Adds a JSON value, and `bytesBeside` for its name. The weight of a large value is found once, and remembered. */
  addJson(bytesBeside: number, value: object): void {
    const weight = this.#weights?.get(value) ?? weightOfJson(value);
    if (weight.values > MAX_UNSLICED_ITEMS) {
      this.#weights ??= new WeakMap();
      this.#weights.set(value, weight);
    }
    this.add(bytesBeside + weight.bytes, weight.values);
  }

  /** Returns a copy of a part of a written list. */
  copy(bytes: Uint8Array): Buffer {
    this.lease ??= new BufferLease(this.#answers.buffers);
    return this.lease.copy(bytes);
  }

  /** Returns a part of the answer's JSON as UTF-8. */
  encode(text: string): Buffer {
    this.lease ??= new BufferLease(this.#answers.buffers);
    return this.lease.encode(text);
  }

  /** Whether a list with this many items may be completed now, in one go. */
  canCompleteAtOnce(items: number): boolean {
    return items <= MAX_UNSLICED_ITEMS && this.canContinue;
  }

  /**
   * Maps the items by `read` for the executor, and leaves out those for which `read` returns undefined. Long lists are
   * read in slices.
   */
  list<Item, Output>(
    items: readonly Item[],
    read: (item: Item) => Output | undefined,
  ): readonly Output[] | SlicedList<Item, Output> {
    if (!this.canCompleteAtOnce(items.length)) return new SlicedList(this, items, read);
    return items.map(read).filter((output) => output !== undefined);
  }

  /** Returns the items as a list in slices, for the executor. Completing each item may take long. */
  sliced<Item>(items: readonly Item[]): SlicedList<Item> {
    return new SlicedList(this, items, same);
  }

  /**
   * Returns objects with lookups as a list for the executor. Up to MAX_UNSLICED_LOOKUPS begin in one turn of the event
   * loop: reads of one turn become one request, so what they cost does not depend on how busy the gateway is.
   */
  beginning<Item>(items: readonly Item[]): SlicedList<Item> {
    return new SlicedList(new LookupWork(this, this.#memory), items, same);
  }

  /** Returns items that come in batches as a list that grows, for the executor. */
  streamedList<Item, Output>(
    batches: AsyncIterable<readonly Item[]>,
    read: (item: Item) => Output,
  ): StreamedList<Item, Output> {
    return new StreamedList(this, batches, read);
  }

  /** Releases the memory of this many bytes, which were sent, while the rest of the answer is still being made. */
  sent(bytes: number): void {
    this.#memory.shrink(bytes);
  }

  /**
   * Whether the answer is dropped or done: it exceeds the limit, its client has disconnected, or it has ended. Once true it
   * stays true, so an answer with missing items is never sent. Fields may still resolve then, where the failure of another
   * field has ended the operation.
   */
  get isStopped(): boolean {
    return this.#hasEnded || this.#limitError !== null || this.#clientSignal?.aborted === true;
  }

  /** Whether the answer may be continued at once. Otherwise `nextSlice` resolves when it may. */
  get canContinue(): boolean {
    return this.isStopped || (this.#memory.isAvailable && !this.#answers.slices.isOver());
  }

  async nextSlice(): Promise<void> {
    while (!this.canContinue) {
      if (this.#memory.isAvailable) await this.#answers.slices.next(this);
      else await this.#memory.available();
    }
  }

  /**
   * Adds this many bytes of finished JSON. Returns null if they may be sent now; otherwise resolves when they may, or when
   * the answer is stopped.
   */
  addMade(bytes: number): Promise<void> | null {
    this.add(bytes, 0);
    return this.isHeavy ? this.#untilSendable() : null;
  }

  async #untilSendable(): Promise<void> {
    do {
      await this.#memory.available();
      // An answer that has released its memory is written in the same turn of the event loop, and then counts as unread.
      await this.#answers.slices.next(this);
    } while (!this.isStopped && !this.#memory.isAvailable);
  }

  /** Ends the answer, whatever its outcome, and releases its memory. */
  end(): void {
    this.#hasEnded = true;
    this.#memory.release();
  }

  #stop(error: GraphQLError): void {
    if (this.#limitError) return;
    this.#limitError = error;
    this.#stopping?.abort();
  }

  get #weight(): number {
    return Math.max(this.#bytes, this.#values * MIN_VALUE_BYTES);
  }
}

/**
 * The beginning of an answer's lookups. A class: an object literal with a getter has a hidden class of its own, which V8
 * keeps until it collects its whole heap.
 */
class LookupWork implements SlicedWork {
  readonly #answer: Answer;
  readonly #memory: AnswerMemory;

  constructor(answer: Answer, memory: AnswerMemory) {
    this.#answer = answer;
    this.#memory = memory;
  }

  get isStopped(): boolean {
    return this.#answer.isStopped;
  }

  get canContinue(): boolean {
    const { canContinue, lookups } = this.#answer;
    return canContinue || (lookups < MAX_UNSLICED_LOOKUPS && this.#memory.isAvailable);
  }

  nextSlice(): Promise<void> {
    return this.#answer.nextSlice();
  }
}

const same = <Item>(item: Item): Item => item;

/** The memory that an answer holds while it is made. A light answer holds none. */
class AnswerMemory {
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

  /** Holds this many bytes, for the first time. They are released when `signal` aborts. */
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

  /** Returns this many bytes, or all that are held. */
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
