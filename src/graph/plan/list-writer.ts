import { GraphQLError, type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { Context } from '../../context.ts';
import { RawJson } from '../../lib/json/stringify.ts';
import type { KernelPlan } from '../../upstream/kernel/compile-plan.ts';
import type { Written } from '../../upstream/kernel/instance.ts';
import type { ItemsWriter } from '../../upstream/page.ts';
import type { ListPlan } from '../../upstream/parse/record.ts';
import type { Answer } from '../answer/answer.ts';
import type { AnswerList } from '../answer/weights.ts';
import { initialCountOf } from '../cost/operation-info.ts';
import type { ListItem, ProjectItem } from './projection.ts';

/** A list that a plan writes. */
export type PlannedList = { readonly runs: readonly PlannedRun[] };

/** As `PlannedList`, for a walk whose pages are read when their items are requested. */
export type GrowingPlannedList = { readonly runs: AsyncIterable<readonly PlannedRun[]> };

export type AnyPlannedList = PlannedList | GrowingPlannedList;

/** Items that follow each other on one page: those from `from` on, up to `to`, which is not one of them. */
export type PlannedRun = {
  /** Writes items from their bytes; null where only their values are known. */
  readonly writer: ItemsWriter | null;
  readonly from: number;
  readonly to: number;
  /** Returns an item as a value, or the client's error of one that can't be parsed. */
  item(index: number): ListItem | GraphQLError;
  cursorOf(index: number): string;
};

/** A plan as both writers use it. */
export class ListWriting {
  readonly #plan: ListPlan;
  readonly project: ProjectItem;
  #kernelPlan: { readonly list: object; readonly plan: KernelPlan | null } | null = null;

  constructor(plan: ListPlan, project: ProjectItem) {
    this.#plan = plan;
    this.project = project;
  }

  /** Returns the plan for the pages of the writer's list, compiled once; null where it can't write by this plan. */
  kernelPlan(writer: ItemsWriter): KernelPlan | null {
    if (this.#kernelPlan?.list !== writer.list)
      this.#kernelPlan = { list: writer.list, plan: writer.compile(this.#plan) };
    return this.#kernelPlan.plan;
  }
}

/** The number of items to write from bytes at once, which takes less than a millisecond. */
const MAX_ITEMS_AT_ONCE = 250;

/** A part of this size has memory of its own as bytes, see answer/serialize.ts. */
const PART_CHARACTERS = 512 * 1024;

/**
 * Writes a list as JSON, in as many time slices as that takes. An item that can't be parsed is null, and its error is
 * added to the answer. The list ends early when the answer is stopped: it is not sent then.
 */
export const writeList = (
  list: PlannedList,
  writing: ListWriting,
  context: Context,
  info: GraphQLResolveInfo,
): RawJson | Promise<RawJson> => {
  const writer = new ListWriter(list.runs, writing, context, info);
  context.answer.hasWrittenLists = true;
  if (writer.advance()) return writer.result();
  const writeInSlices = async (): Promise<RawJson> => {
    do await context.answer.nextSlice();
    while (!writer.advance());
    return writer.result();
  };
  return writeInSlices();
};

/**
 * Writes a list for an answer in parts, as elements that are one item or several. With `@stream` the executor counts those
 * of the part that has the list, which are one item each, and adds the others to later parts. It makes null of an error,
 * except in a later part, where it would give it another place.
 */
export const writeInParts = (
  list: AnyPlannedList,
  writing: ListWriting,
  context: Context,
  info: GraphQLResolveInfo,
): AnswerList => {
  context.answer.hasWrittenLists = true;
  return context.answer.streamedList(elementsOf(list, writing, context, info), (element) => element);
};

async function* elementsOf(
  { runs: all }: AnyPlannedList,
  writing: ListWriting,
  context: Context,
  info: GraphQLResolveInfo,
): AsyncGenerator<readonly [WrittenItems | GraphQLError], void, undefined> {
  const elements = new ElementWriter(new ItemWriter(writing, context), info);
  for await (const runs of Symbol.asyncIterator in all ? all : [all])
    for (const run of runs)
      for (let index = run.from; index < run.to; ) {
        const before = elements.written;
        yield [elements.write(run, index)];
        index += elements.written - before;
      }
}

class ElementWriter {
  readonly #items: ItemWriter;
  readonly #info: GraphQLResolveInfo;
  /** Null for a list that is not streamed. */
  readonly #initialCount: number | null;
  /** The number of items written. */
  written = 0;

  constructor(items: ItemWriter, info: GraphQLResolveInfo) {
    this.#items = items;
    this.#info = info;
    this.#initialCount = initialCountOf(info);
  }

  /** Writes at least the item at `index`. */
  write(run: PlannedRun, index: number): WrittenItems | GraphQLError {
    const at = this.written;
    const isFirst = this.#initialCount !== null && at < this.#initialCount;
    const { bytes, next } = this.#items.writeBytes(run, index, isFirst ? 1 : MAX_ITEMS_AT_ONCE);
    this.written += Math.max(1, next - index);
    // Parts are sent one after another: each has memory of its own.
    if (next > index) return new WrittenItems(Buffer.from(bytes), at, null);
    const json = this.#items.writeValue(run, index);
    if (typeof json === 'string') return new WrittenItems(json, at, null);
    const error = itemError(json, at, this.#info);
    return isFirst || this.#initialCount === null ? error : new WrittenItems('null', at, error);
  }
}

/** The JSON of items of a list, with commas between. */
export class WrittenItems extends RawJson {
  /** The index of the first item in the list. */
  readonly index: number;
  /** The error of an item that is null. */
  readonly error: GraphQLError | null;

  constructor(json: Buffer | string, index: number, error: GraphQLError | null) {
    super([json]);
    this.index = index;
    this.error = error;
  }
}

class ListWriter {
  readonly #runs: readonly PlannedRun[];
  readonly #items: ItemWriter;
  readonly #answer: Answer;
  readonly #info: GraphQLResolveInfo;
  readonly #parts: (Buffer | string)[] = [];
  #text = '[';
  #run = 0;
  /** The index on its page of the next item of the run; null before the run has begun. */
  #index: number | null = null;
  #written = 0;

  constructor(runs: readonly PlannedRun[], writing: ListWriting, context: Context, info: GraphQLResolveInfo) {
    this.#runs = runs;
    this.#items = new ItemWriter(writing, context);
    this.#answer = context.answer;
    this.#info = info;
  }

  /** Writes for a slice of time. Returns whether it has written all items that are needed. */
  advance(): boolean {
    const answer = this.#answer;
    for (let run = this.#runs[this.#run]; run !== undefined; run = this.#runs[this.#run]) {
      this.#index ??= run.from;
      while (this.#index < run.to && !answer.isStopped) {
        if (!answer.canContinue) return false;
        this.#index = this.#writeSome(run, this.#index);
      }
      this.#index = null;
      this.#run += 1;
    }
    return true;
  }

  result(): RawJson {
    return new RawJson([...this.#parts, `${this.#text}]`]);
  }

  /** Writes at least the item at `index`, and returns the index behind what it has written. */
  #writeSome(run: PlannedRun, index: number): number {
    const { bytes, next, isOdd } = this.#items.writeBytes(run, index, MAX_ITEMS_AT_ONCE);
    if (next > index) this.#addBytes(bytes, next - index);
    return isOdd ? this.#addValue(run, next) : next;
  }

  #addBytes(bytes: Uint8Array, items: number): void {
    this.#parts.push(this.#written === 0 ? this.#text : `${this.#text},`, this.#answer.copy(bytes));
    this.#text = '';
    this.#written += items;
  }

  #addValue(run: PlannedRun, index: number): number {
    const answer = this.#answer;
    const written = this.#items.writeValue(run, index);
    const json = typeof written === 'string' ? written : 'null';
    if (typeof written !== 'string') {
      answer.itemErrors.push(itemError(written, this.#written, this.#info));
      answer.addErrors(1);
    }
    this.#text += this.#written === 0 ? json : `,${json}`;
    this.#written += 1;
    if (this.#text.length >= PART_CHARACTERS) {
      this.#parts.push(Buffer.from(this.#text));
      this.#text = '';
    }
    return index + 1;
  }
}

const NOTHING = new Uint8Array();

/** Writes items of one list, and adds them to the answer's weight. */
class ItemWriter {
  readonly #writing: ListWriting;
  readonly #context: Context;

  constructor(writing: ListWriting, context: Context) {
    this.#writing = writing;
    this.#context = context;
  }

  /**
   * Writes items from `index` on, `most` of them or fewer, from the bytes of their page. The item at `next` is left to
   * `writeValue` if `isOdd`. The next call of the kernel overwrites the bytes.
   */
  writeBytes(run: PlannedRun, index: number, most: number): Written {
    const { writer, cursorOf } = run;
    const plan = writer && this.#writing.kernelPlan(writer);
    if (!writer || !plan) return { bytes: NOTHING, next: index, isOdd: true };
    const { chains, answer } = this.#context;
    const to = Math.min(run.to, index + most);
    const written = writer.write(plan, index, to, { chains, cursorOf });
    if (written.next > index) answer.add(written.bytes.length + 1, written.next - index);
    return written;
  }

  /** Returns the JSON of an item, or the client's error of one that can't be parsed. */
  writeValue(run: PlannedRun, index: number): string | GraphQLError {
    const { answer } = this.#context;
    const item = run.item(index);
    const written =
      item instanceof GraphQLError ? item : JSON.stringify(this.#writing.project(item, this.#context));
    answer.add((typeof written === 'string' ? written.length : NULL_BYTES) + 1, 1);
    return written;
  }
}

/** The size of `null`. */
const NULL_BYTES = 4;

/** Returns an item's error as the executor returns it, with its place in the document and in the answer. */
const itemError = (
  { message, extensions }: GraphQLError,
  index: number,
  { fieldNodes, path }: GraphQLResolveInfo,
): GraphQLError =>
  new GraphQLError(message, { nodes: fieldNodes, path: [...responsePathAsArray(path), index], extensions });
