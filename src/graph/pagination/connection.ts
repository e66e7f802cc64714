import { GraphQLError } from 'graphql';
import type { ReadPage } from '../../upstream/list-loader.ts';
import { type Page, type PartialErrors, partialErrorsOf } from '../../upstream/page.ts';
import { MalformedFieldError } from '../../upstream/parse/fields.ts';
import type { Answer } from '../answer/answer.ts';
import type { AnswerList } from '../answer/weights.ts';
import { clientError } from '../errors.ts';
import type { PlannedList, PlannedRun } from '../plan/list-writer.ts';
import type { ListCursors } from './cursor.ts';
import { type Entry, entriesOf, positionOf, type Run } from './entries.ts';
import { GrowingWalk, type ListConnection, type PageInfo, StreamedConnection } from './list-connection.ts';
import { type Passes, type WalkResult, walk } from './walk.ts';

/** An edge of a connection over upstream pages. */
export type ItemEdge<Value> = { readonly node: Value; readonly cursor: string };

/** The edge of an item that a walk found. Its cursor is made only when it is selected. */
class EntryEdge<Value> implements ItemEdge<Value> {
  readonly node: Value;
  private readonly cursors: ListCursors;
  private readonly entry: Entry<Value>;

  constructor(node: Value, cursors: ListCursors, entry: Entry<Value>) {
    this.node = node;
    this.cursors = cursors;
    this.entry = entry;
  }

  get cursor(): string {
    return this.cursors.write(positionOf(this.entry));
  }
}

/** A connection over upstream pages: the result of a walk. */
export class ItemConnection<Value> implements ListConnection, PlannedList {
  private readonly cursors: ListCursors;
  private readonly result: WalkResult<Value>;
  private readonly resumed: boolean;

  constructor(cursors: ListCursors, result: WalkResult<Value>, resumed: boolean) {
    this.cursors = cursors;
    this.result = result;
    this.resumed = resumed;
  }

  get entries(): readonly Entry<Value>[] {
    return entriesOf(this.result.runs);
  }

  get runs(): readonly PlannedRun[] {
    return this.runsOf(this.result.runs);
  }

  /** Returns runs of its items as plans write them. */
  runsOf(runs: readonly Run<Value>[]): readonly PlannedRun[] {
    return runs.map(({ visit, from, to }) => ({
      writer: visit.page.items.writer,
      from,
      to,
      item: (index) => this.item({ visit, index }),
      cursorOf: (index) => this.cursors.write(positionOf({ visit, index })),
    }));
  }

  edges(answer: Answer): AnswerList {
    return answer.list(this.entries, this.edgeOf);
  }

  nodes(answer: Answer): AnswerList {
    return answer.list(this.entries, this.nodeOf);
  }

  /** Rejects for an item that can't be parsed: only that edge becomes null. */
  readonly edgeOf = (entry: Entry<Value>): ItemEdge<Value> | Promise<never> => {
    const edge = this.item(entry);
    return edge instanceof GraphQLError ? rejectionOf(edge) : edge;
  };

  /** As `edgeOf`. */
  readonly nodeOf = (entry: Entry<Value>): Value | Promise<never> => {
    const value = readValue(entry);
    return value instanceof MalformedFieldError ? rejectionOf(malformedItem(value)) : value;
  };

  /** Returns the edge of an item, or the client's error of one that can't be parsed. */
  item(entry: Entry<Value>): ItemEdge<Value> | GraphQLError {
    const value = readValue(entry);
    return value instanceof MalformedFieldError
      ? malformedItem(value)
      : new EntryEdge(value, this.cursors, entry);
  }

  get pageInfo(): PageInfo {
    return new RunsPageInfo(this.cursors, this.result, this.resumed);
  }

  get requestTime(): string | null {
    return this.oldestPage()?.requestTime ?? null;
  }

  get responseTime(): string | null {
    return this.oldestPage()?.responseTime ?? null;
  }

  get partialErrors(): PartialErrors | null {
    return partialErrorsOf(this.result.pages);
  }

  get more(): unknown {
    return this.result.pages[0]?.more ?? null;
  }

  private oldestPage(): WalkResult<Value>['pages'][number] | undefined {
    return this.result.pages.toSorted((one, other) => requestedAt(one) - requestedAt(other))[0];
  }
}

/** Signs a cursor only if it is selected. A class, for the reason that `OperationDeadline` is one. */
class RunsPageInfo<Value> implements PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly #cursors: ListCursors;
  readonly #runs: WalkResult<Value>['runs'];

  constructor(cursors: ListCursors, { runs, hasNextPage }: WalkResult<Value>, hasPreviousPage: boolean) {
    this.hasNextPage = hasNextPage;
    this.hasPreviousPage = hasPreviousPage;
    this.#cursors = cursors;
    this.#runs = runs;
  }

  get startCursor(): string | null {
    const run = this.#runs[0];
    return run ? this.#cursors.write(positionOf({ visit: run.visit, index: run.from })) : null;
  }

  get endCursor(): string | null {
    const run = this.#runs.at(-1);
    return run ? this.#cursors.write(positionOf({ visit: run.visit, index: run.to - 1 })) : null;
  }
}

export type ConnectionRequest<Value> = {
  readonly read: ReadPage<Value>;
  readonly cursors: ListCursors;
  readonly first: number;
  readonly after: string | null | undefined;
  /** Whether the executor takes items as pages arrive. Default: it gets them all at once. */
  readonly streams?: boolean;
  /** Leaves items out. Default: none. */
  readonly passes?: Passes<Value> | null;
};

/**
 * Walks a list from the cursor `after`, or from its head. Rejects with INVALID_CURSOR before it sends a request, and with
 * the UpstreamError of a request that fails. For a list that streams, it waits only for the first page.
 */
export const connect = async <Value>(request: ConnectionRequest<Value>): Promise<ListConnection> => {
  const { read, cursors, first, after, streams = false, passes = null } = request;
  const position = after == null ? null : cursors.read(after);
  const connectionOf = (items: WalkResult<Value>) => new ItemConnection(cursors, items, position !== null);
  if (!streams) return connectionOf(await walk(read, first, position, passes));
  const growing = await GrowingWalk.begin(read, first, position, passes);
  return new StreamedConnection(growing, connectionOf(growing.items));
};

/** Returns when a page was requested, by upstream's clock, or by the gateway's if upstream omits the time. */
const requestedAt = ({ requestTime, fetchedAt }: Page<unknown>): number =>
  requestTime === null ? fetchedAt : Date.parse(requestTime);

const readValue = <Value>({ visit, index }: Entry<Value>): Value | MalformedFieldError =>
  visit.page.items.value(index);

/** The executor drops an item of a list that it stops to stream. Nothing else would handle the rejection then. */
const rejectionOf = (error: GraphQLError): Promise<never> => {
  const rejection = Promise.reject(error);
  rejection.catch(() => {});
  return rejection;
};

/** The client's error of an item that can't be parsed. */
export const malformedItem = ({ message, field }: MalformedFieldError): GraphQLError =>
  clientError('UPSTREAM_INVALID_RESPONSE', `The service sent an item that can't be parsed. ${message}.`, {
    field,
  });
