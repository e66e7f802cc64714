import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ExecutionResult,
  experimentalExecuteIncrementally,
  type GraphQLError,
  legacyExecuteIncrementally,
} from 'graphql';
import { inOrderOfData, serializeData } from '../../graph/answer/serialize.ts';
import { badUserInput } from '../../graph/errors.ts';
import { asksForParts, incrementalUses, withoutParts } from '../../graph/incremental.ts';
import { WrittenItems } from '../../graph/plan/list-writer.ts';
import type { CorsHeaders } from '../browsers/origin-policy.ts';
import type { OpenPartEncoder } from '../http/compressor.ts';
import { headersOf } from '../http/exchange.ts';
import type { UnsentLimit } from '../http/unsent-limit.ts';
import { toFormattedError } from '../subscriptions/frame.ts';
import { MAX_ERRORS, maskErrors, withRequestId } from './errors.ts';
import type { OperationArgs, OperationContext, OperationPlugin } from './operation-plugin.ts';
import { acceptedBy, type PartFormat } from './over-http/accept.ts';
import { HttpPartWriter, type LastPart, type PartedAnswer, type PartWriter } from './part-writer.ts';

type Options = {
  readonly corsHeaders: CorsHeaders;
  readonly openPartEncoder: OpenPartEncoder;
  readonly unsent: Pick<UnsentLimit, 'wrote'>;
};

/**
 * Incremental delivery: sends the parts of an operation with `@defer` or `@stream` as they are made. Where the client
 * reads no parts, or all directives are off, the operation is executed as if it had none.
 */
export const useIncrementalDelivery = ({
  corsHeaders,
  openPartEncoder,
  unsent,
}: Options): OperationPlugin => {
  const openWriter = ({ req, res, partWriter, acceptEncoding }: OperationContext): PartWriter | null => {
    if (partWriter) return partWriter;
    if (!req || !res) return null;
    const { socket } = req;
    const { parts } = acceptedBy(req);
    if (!parts) return null;
    const onWrite = () => unsent.wrote(socket);
    const isCompressed = acceptEncoding !== undefined && parts.mediaType === 'multipart/mixed';
    const openEncoder = () => (isCompressed ? openPartEncoder(acceptEncoding, res, onWrite) : null);
    return new HttpPartWriter(res, parts, corsHeaders(headersOf(req)), onWrite, openEncoder);
  };
  return {
    onExecute(start) {
      const { args } = start;
      const asks = asksFor(args);
      if (asks === null) return;
      const writer = asks === true ? openWriter(args.contextValue) : null;
      if (typeof asks !== 'boolean') start.result = { errors: [asks] };
      else if (writer === null) Object.assign(args, { document: withoutParts(args.document) });
      else {
        const parts = new AnswerParts(writer, args.contextValue);
        args.contextValue.parts = parts;
        start.executeFn = (given) => executeInParts(given, parts);
      }
    },
    onSubscribe(start) {
      const { args } = start;
      const asks = asksFor(args);
      if (asks === null) return;
      if (asks === false) Object.assign(args, { document: withoutParts(args.document) });
      else start.result = { errors: [asks === true ? inSubscription() : asks] };
    },
  };
};

/** Sends the last part of an answer over HTTP. It must be the last plugin, so that the result is complete. */
export const useLastPart = (): OperationPlugin => ({
  onHttpResult(result, { parts }) {
    parts?.end(result);
    return result;
  },
});

/** Returns null for a document without the directives, and the error of one whose use of them is invalid. */
const asksFor = (args: OperationArgs): boolean | GraphQLError | null => {
  if (incrementalUses(args.document).length === 0) return null;
  try {
    return asksForParts(args.schema, args);
  } catch (error) {
    return error as GraphQLError;
  }
};

const inSubscription = (): GraphQLError =>
  badUserInput('Expected a subscription whose @defer and @stream are off, got one with if: true.');

/**
 * Executes an operation that asks for later parts, and sends all of them. Resolves after the last one, with the errors of
 * all: the pipeline completes the operation then, as it completes any other. Resolves with the whole result where nothing
 * of it comes later.
 *
 * What is deferred begins at once, so that its reads join those of the first part.
 */
const executeInParts = async (args: OperationArgs, parts: AnswerParts): Promise<ExecutionResult> => {
  const execute = parts.format === 'v0.2' ? experimentalExecuteIncrementally : legacyExecuteIncrementally;
  const executed = await execute({ ...args, enableEarlyExecution: true });
  if (!('initialResult' in executed)) return executed;
  await parts.send(executed.initialResult);
  // An answer that is stopped is executed to its end, which is near: its reads are aborted. No work of it outlives it.
  for await (const part of executed.subsequentResults as AsyncIterable<Part>) {
    const { pending, incremental, completed } = part;
    if (pending ?? incremental ?? completed) await parts.send(part);
    // What settles in the meantime comes in the same part.
    await nextTurn();
  }
  parts.complete();
  return parts.errors.length > 0 ? { errors: parts.errors } : {};
};

/** A part of an answer, as the executor makes it. The first one has data, the others have what is added to it. */
type Part = {
  readonly errors?: readonly GraphQLError[];
  readonly pending?: readonly (Placed & { readonly id: string })[];
  readonly incremental?: readonly (Placed & WithErrors & { readonly items?: readonly unknown[] | null })[];
  readonly completed?: readonly (WithErrors & { readonly id: string })[];
  readonly data?: unknown;
};

type WithErrors = { readonly errors?: readonly GraphQLError[] };

/** Where in the answer something comes, and the client's name for it. */
type Placed = {
  readonly path?: readonly (string | number)[];
  readonly subPath?: readonly (string | number)[];
  readonly label?: string;
};

/** The executor knows neither the places of items that a plan has written, as it counts them as one, nor their errors. */
const withWrittenItems = ({ incremental, ...part }: Part): Part => ({
  ...part,
  ...(incremental && {
    incremental: incremental.map((added) => {
      const written = added.items?.filter((item) => item instanceof WrittenItems);
      const [first] = written ?? [];
      if (!written || !first) return added;
      const errors = written.flatMap(({ error }) => error ?? []);
      const path = added.path && [...added.path.slice(0, -1), first.index];
      return { ...added, ...(path && { path }), ...(errors.length > 0 && { errors }) };
    }),
  }),
});

/** Counts the errors of a part that say why fields are null. */
const errorsOfNulls = ({ errors = [], incremental = [] }: Part): number =>
  incremental.reduce((sum, added) => sum + (added.errors?.length ?? 0), errors.length);

/** Returns the bytes of the paths and labels in a part. The executor's fields have added what else is in it. */
const placesBytes = ({ pending = [], incremental = [] }: Part): number => {
  let bytes = 0;
  for (const { path = [], subPath = [], label = '' } of [...pending, ...incremental]) {
    bytes += label.length;
    for (const key of path) bytes += String(key).length;
    for (const key of subPath) bytes += String(key).length;
  }
  return bytes;
};

/** The answer to one operation, sent part by part, in memory only until it is sent. */
class AnswerParts implements PartedAnswer {
  readonly #writer: PartWriter;
  readonly #context: OperationContext;
  /** The errors of all parts so far, as they were thrown. */
  readonly errors: GraphQLError[] = [];
  /** The ids of parts that are announced and have not come. */
  readonly #pending = new Set<string>();
  #bytes = 0;
  #hasBegun = false;
  #isComplete = false;
  #hasEnded = false;

  constructor(writer: PartWriter, context: OperationContext) {
    this.#writer = writer;
    this.#context = context;
  }

  get format(): PartFormat {
    return this.#writer.format;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /**
   * Sends a part, with its errors masked. Resolves once it is written. The limits of an answer hold for all parts
   * together: no part is sent of an answer that is stopped.
   */
  async send(made: Part): Promise<void> {
    const { answer } = this.#context;
    if (answer.isStopped) {
      answer.lease = null;
      return;
    }
    const part = withWrittenItems(made);
    const masked = this.#masked(part);
    answer.add(placesBytes(part), 0);
    answer.addErrors(errorsOfNulls(part));
    const data = await serializeData(masked, answer);
    // The next part has memory of its own.
    answer.lease = null;
    if (data === null) return;
    this.#bytes += data.bytes;
    if (this.#bytes > answer.maxBytes) answer.exceedLimit();
    if (answer.isStopped || this.#hasEnded) return data.lease?.release();
    this.#hasBegun = true;
    for (const { id } of part.pending ?? []) this.#pending.add(id);
    for (const { id } of part.completed ?? []) this.#pending.delete(id);
    this.#writer.write(data.chunks, () => data.lease?.release());
    answer.sent(data.bytes);
  }

  /** Called when the executor has made all parts. An answer that was stopped before stays incomplete. */
  complete(): void {
    this.#isComplete = !this.#context.answer.isStopped;
  }

  /** The errors of a whole answer are in its parts. Those of one that has ended before its last part are here. */
  finish({ errors = [], extensions = {} }: ExecutionResult): LastPart | null {
    this.#hasEnded = true;
    if (!this.#hasBegun) return null;
    const last = { extensions, hasNext: false } as const;
    if (this.#isComplete || errors.length === 0) return last;
    if (this.format === '20220824' || this.#pending.size === 0) return { errors, ...last };
    const formatted = errors.map(toFormattedError);
    const shown = Math.max(1, MAX_ERRORS - this.errors.length);
    const entries = [...this.#pending].map((id, index) => ({ id, errors: index < shown ? formatted : [] }));
    return { completed: entries, ...last };
  }

  end(result: ExecutionResult): void {
    const last = this.finish(result);
    if (last === null) return;
    const errors = last.errors?.map(toFormattedError);
    this.#writer.end?.(JSON.stringify({ ...last, errors }));
  }

  #masked({ errors = [], incremental, completed, ...part }: Part): object {
    return {
      ...part,
      ...this.#shown(inOrderOfData(errors, part.data)),
      ...(incremental && {
        incremental: incremental.map(({ errors: thrown = [], ...added }) => ({
          ...added,
          ...this.#shown(thrown),
        })),
      }),
      ...(completed && {
        completed: completed.map((entry) => {
          // The name alone says that what was announced does not come, even if no error is shown any longer.
          return entry.errors ? { ...entry, errors: this.#maskFirst(entry.errors) } : entry;
        }),
      }),
      hasNext: true,
    };
  }

  #shown(thrown: readonly GraphQLError[]): object {
    const errors = this.#mask(thrown);
    return errors.length > 0 ? { errors } : {};
  }

  /** Masks those within the limit of errors that say why no data comes. */
  #maskFirst(thrown: readonly GraphQLError[]) {
    const left = Math.max(0, MAX_ERRORS - this.errors.length);
    const masked = this.#mask(thrown.slice(0, left));
    for (const error of thrown.slice(left)) this.errors.push(error);
    return masked;
  }

  #mask(thrown: readonly GraphQLError[]) {
    const { transport, trace } = this.#context;
    for (const error of thrown) this.errors.push(error);
    return maskErrors(thrown).errors.map((error) =>
      toFormattedError(transport ? withRequestId(error, trace) : error),
    );
  }
}
