import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import { isIncluded, type VariableValues } from '../cost/operation-info.ts';

/** What a part of an answer adds to its JSON text, in bytes, and how many values that part has. */
export type Weight = { readonly bytes: number; readonly values: number };

const NONE: Weight = { bytes: 0, values: 0 };

const QUOTES = 2;
/** The size of `null`, `true` and `false`, and of most numbers. */
const WORD = 5;
/** The size of `"":"",` and of a type's name. */
const TYPENAME_BYTES = 22;

/** Returns the bytes of a leaf as JSON. A string counts one byte a character, and nothing for its escapes. */
export const weightOfLeaf = (value: unknown): number =>
  typeof value === 'string' ? value.length + QUOTES : WORD;

/** Returns the weight of any JSON value; its leaves count as in `weightOfLeaf`. */
export const weightOfJson = (value: unknown): Weight => {
  const pending: unknown[] = [value];
  let bytes = 0;
  let values = 0;
  while (pending.length > 0) {
    const next = pending.pop();
    values += 1;
    bytes += 1;
    if (typeof next !== 'object' || next === null) bytes += weightOfLeaf(next);
    else if (Array.isArray(next)) for (const item of next) pending.push(item);
    else
      for (const [key, inner] of Object.entries(next)) {
        bytes += key.length + QUOTES;
        pending.push(inner);
      }
  }
  return { bytes, values };
};

/** The weights found by `weightOfTypenames` of fields whose selections no variable decides. */
const constantWeights = new WeakMap<FieldNode, Weight>();
/** Those of other fields, by operation. */
const weightsOfOperation = new WeakMap<VariableValues, Map<FieldNode, Weight>>();

/**
 * Returns what `__typename` adds to each object of the field that is being resolved. The executor calls no resolver for
 * `__typename`, so it is counted here. A selection on some types only counts for all types.
 */
export const weightOfTypenames = (info: GraphQLResolveInfo): Weight => {
  const { fieldNodes, variableValues } = info;
  const [first] = fieldNodes;
  if (first === undefined) return NONE;
  const isAlone = fieldNodes.length === 1;
  const known = (isAlone && constantWeights.get(first)) || weightsOfOperation.get(variableValues)?.get(first);
  if (known) return known;
  const { weight, isConstant } = countTypenames(info);
  if (isConstant && isAlone) constantWeights.set(first, weight);
  else {
    const ofOperation = weightsOfOperation.get(variableValues) ?? new Map<FieldNode, Weight>();
    weightsOfOperation.set(variableValues, ofOperation.set(first, weight));
  }
  return weight;
};

const countTypenames = ({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo) => {
  let isConstant = true;
  const names = new Set<string>();
  const visited = new Set<string>();
  const visitFragment = (name: string): void => {
    if (visited.has(name)) return;
    visited.add(name);
    visit(fragments[name]?.selectionSet);
  };
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.directives?.length) isConstant = false;
      if (!isIncluded(selection, variableValues)) continue;
      if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) visitFragment(selection.name.value);
      else if (selection.name.value === '__typename') names.add(selection.alias?.value ?? '__typename');
    }
  };
  for (const { selectionSet } of fieldNodes) visit(selectionSet);
  let bytes = 0;
  for (const name of names) bytes += name.length + TYPENAME_BYTES;
  return { weight: { bytes, values: names.size }, isConstant };
};

/** The items of a list for the executor: a list, a list in slices, or one that grows. */
export type AnswerList = AsyncIterable<unknown> | readonly unknown[];

/** Long work that runs in time slices, and that may be stopped. */
export type SlicedWork = {
  /** Whether the rest of the work is no longer needed. Once true, it stays true. */
  readonly isStopped: boolean;
  /** Whether the work may continue at once. Otherwise `nextSlice` resolves when it may. */
  readonly canContinue: boolean;
  nextSlice(): Promise<void>;
};

/**
 * A list whose items the executor completes one by one, in as many time slices as that takes. It ends early when the work
 * is stopped. It never rejects: the executor would then drop the items that it has begun to complete, with their failures.
 */
export class SlicedList<Item, Output = Item> implements AsyncIterable<Output> {
  readonly length: number;
  readonly #work: SlicedWork;
  readonly #items: readonly Item[];
  readonly #read: (item: Item) => Output | undefined;

  /** `read` is called for each item in its slice. An item that it makes undefined is left out. */
  constructor(work: SlicedWork, items: readonly Item[], read: (item: Item) => Output | undefined) {
    this.length = items.length;
    this.#work = work;
    this.#items = items;
    this.#read = read;
  }

  [Symbol.asyncIterator](): AsyncIterator<Output, undefined> {
    const items = this.#items[Symbol.iterator]();
    const readNext = (): IteratorResult<Output, undefined> => {
      for (let item = items.next(); !item.done; item = items.next()) {
        if (this.#work.isStopped) break;
        const value = this.#read(item.value);
        if (value !== undefined) return { done: false, value };
      }
      return { done: true, value: undefined };
    };
    return {
      next: () =>
        this.#work.canContinue ? Promise.resolve(readNext()) : this.#work.nextSlice().then(readNext),
    };
  }
}

/**
 * A list whose items are read in batches, each when the executor asks for it. It ends early when the work is stopped. It
 * rejects where a batch can't be read: the executor then ends the list with the error.
 */
export class StreamedList<Item, Output = unknown> implements AsyncIterable<Output> {
  readonly #work: SlicedWork;
  readonly #batches: AsyncIterable<readonly Item[]>;
  readonly #read: (item: Item) => Output;
  /** Called before each item is yielded. */
  onItem: () => void = () => {};

  /** `read` is called for each item in its slice. */
  constructor(work: SlicedWork, batches: AsyncIterable<readonly Item[]>, read: (item: Item) => Output) {
    this.#work = work;
    this.#batches = batches;
    this.#read = read;
  }

  [Symbol.asyncIterator](): AsyncIterator<Output, undefined> {
    const batches = this.#batches[Symbol.asyncIterator]();
    let batch: readonly Item[] = [];
    let index = 0;
    let isOver = false;
    const end = (): IteratorResult<Output, undefined> => {
      isOver = true;
      return { done: true, value: undefined };
    };
    /** Returns whether there is an item left. */
    const readBatch = async (): Promise<boolean> => {
      while (index === batch.length) {
        const next = await batches.next();
        if (next.done) return false;
        batch = next.value;
        index = 0;
      }
      return true;
    };
    return {
      next: async () => {
        if (isOver || this.#work.isStopped || !(await readBatch())) return end();
        if (!this.#work.canContinue) await this.#work.nextSlice();
        const item = batch[index];
        if (this.#work.isStopped || item === undefined) return end();
        index += 1;
        this.onItem();
        return { done: false, value: this.#read(item) };
      },
      // The generator of the batches may wait for a page: its own `return` would not settle before that.
      return: async () => end(),
    };
  }
}
