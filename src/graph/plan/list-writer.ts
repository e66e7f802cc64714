import { GraphQLError, type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { Context } from '../../context.ts';
import { RawJson } from '../../lib/json/stringify.ts';
import type { KernelPlan } from '../../upstream/kernel/compile-plan.ts';
import type { ItemsWriter } from '../../upstream/page.ts';
import type { DeriveContext } from '../../upstream/parse/derived.ts';
import {
  type EdgeField,
  type ListPlan,
  type Plan,
  type PlanField,
  viewOf,
} from '../../upstream/parse/record.ts';

/** A list that a plan writes. */
export type PlannedList = { readonly runs: readonly PlannedRun[] };

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

class ListWriter {
  readonly #runs: readonly PlannedRun[];
  readonly #writing: ListWriting;
  readonly #context: Context;
  readonly #info: GraphQLResolveInfo;
  readonly #parts: (Buffer | string)[] = [];
  #text = '[';
  #run = 0;
  /** The index on its page of the next item of the run; null before the run has begun. */
  #index: number | null = null;
  #written = 0;

  constructor(runs: readonly PlannedRun[], writing: ListWriting, context: Context, info: GraphQLResolveInfo) {
    this.#runs = runs;
    this.#writing = writing;
    this.#context = context;
    this.#info = info;
  }

  /** Writes for a slice of time. Returns whether it has written all items that are needed. */
  advance(): boolean {
    const { answer } = this.#context;
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
    const { writer, cursorOf } = run;
    const plan = writer && this.#writing.kernelPlan(writer);
    if (!writer || !plan) return this.#writeValue(run, index);
    const { chains } = this.#context;
    const to = Math.min(run.to, index + MAX_ITEMS_AT_ONCE);
    const { bytes, next, isOdd } = writer.write(plan, index, to, { chainIds: chains.idsByName, cursorOf });
    if (next > index) this.#addBytes(bytes, next - index);
    return isOdd ? this.#writeValue(run, next) : next;
  }

  #addBytes(bytes: Uint8Array, items: number): void {
    const { answer } = this.#context;
    answer.add(bytes.length + 1, items);
    this.#parts.push(this.#written === 0 ? this.#text : `${this.#text},`, answer.copy(bytes));
    this.#text = '';
    this.#written += items;
  }

  #writeValue(run: PlannedRun, index: number): number {
    const { answer } = this.#context;
    const item = run.item(index);
    const isError = item instanceof GraphQLError;
    if (isError) {
      answer.itemErrors.push(itemError(item, this.#written, this.#info));
      answer.addErrors(1);
    }
    const json = isError ? 'null' : JSON.stringify(this.#writing.project(item, this.#context));
    answer.add(json.length + 1, 1);
    this.#text += this.#written === 0 ? json : `,${json}`;
    this.#written += 1;
    if (this.#text.length >= PART_CHARACTERS) {
      this.#parts.push(Buffer.from(this.#text));
      this.#text = '';
    }
    return index + 1;
  }
}

/** Returns an item's error as the executor returns it, with its place in the document and in the answer. */
const itemError = (
  { message, extensions }: GraphQLError,
  index: number,
  { fieldNodes, path }: GraphQLResolveInfo,
): GraphQLError =>
  new GraphQLError(message, { nodes: fieldNodes, path: [...responsePathAsArray(path), index], extensions });

/** An item of a list, as a plain value. */
type ListItem = {
  readonly node: unknown;
  /** The cursor of its edge. It is made only when it is selected. */
  readonly cursor: string;
};

/** Returns what the executor returns for an item. Its JSON is the item's part of the answer. */
type ProjectItem = (item: ListItem, context: DeriveContext) => object;

/** Compiles a plan to a function of the plain values of its items. */
export const createProjection = (plan: ListPlan): ProjectItem => {
  if (plan.kind === 'nodes') {
    const project = recordReader(plan.node);
    return ({ node }, context) => project(node as object, context);
  }
  const { typeName, fields } = plan;
  return objectReader(fields, (field) => edgeFieldReader(typeName, field));
};

type Read<Source, Output = unknown> = (source: Source, context: DeriveContext) => Output;

/** An object without the members of every object: a client may call a field `__proto__`. V8 makes it as fast as `{}`. */
class Projection {
  [key: string]: unknown;
}
Object.setPrototypeOf(Projection.prototype, null);

const objectReader = <Field extends { readonly key: string }, Source>(
  fields: readonly Field[],
  readerOf: (field: Field) => Read<Source>,
): Read<Source, object> => {
  const readers = fields.map((field) => ({ key: field.key, read: readerOf(field) }));
  return (source, context) => {
    const projection = new Projection();
    for (const { key, read } of readers) projection[key] = read(source, context);
    return projection;
  };
};

const edgeFieldReader = (typeName: string, field: EdgeField): Read<ListItem> => {
  if (field.kind === 'typename') return () => typeName;
  if (field.kind === 'cursor') return ({ cursor }) => cursor;
  const project = recordReader(field.plan);
  return ({ node }, context) => project(node as object, context);
};

const recordReader = ({ typeName, fields }: Plan): Read<object, object> =>
  objectReader(fields, (field) => fieldReader(typeName, field));

const fieldReader = (typeName: string, field: PlanField): Read<object> => {
  if (field.kind === 'typename') return () => typeName;
  if (field.kind === 'derived') {
    const { derive } = field.field;
    return derive;
  }
  if (field.kind === 'view') {
    const { view, plan } = field;
    const project = recordReader(plan);
    return (record, context) => {
      const object = viewOf(view, record);
      return object && project(object, context);
    };
  }
  const { property, plan } = field;
  const read = (record: object): unknown => (record as Readonly<Record<string, unknown>>)[property] ?? null;
  if (plan === null) return read;
  const project = recordReader(plan);
  return (record, context) => {
    const value = read(record);
    if (value === null) return null;
    return Array.isArray(value)
      ? value.map((inner) => project(inner, context))
      : project(value as object, context);
  };
};
