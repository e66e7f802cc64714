import type { ExecutionResult, GraphQLError } from 'graphql';
import { inOrderOfData, serializeData } from '../../../graph/answer/serialize.ts';
import { toFormattedError } from '../../subscriptions/frame.ts';
import type { PartFormat } from '../answers/accept.ts';
import { MAX_ERRORS, maskErrors, withRequestId } from '../errors.ts';
import type { OperationContext } from '../operation-plugin.ts';
import type { LastPart, PartedAnswer, PartWriter } from './part-writer.ts';

/** A part of an answer, as the executor makes it. The first one has data, the others have what is added to it. */
export type Part = {
  readonly errors?: readonly GraphQLError[];
  readonly pending?: readonly (Placed & { readonly id: string })[];
  readonly incremental?: readonly (Placed & WithErrors)[];
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
export class AnswerParts implements PartedAnswer {
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
  async send(part: Part): Promise<void> {
    const { answer } = this.#context;
    if (answer.isStopped) {
      answer.lease = null;
      return;
    }
    const masked = this.#masked(part);
    answer.add(placesBytes(part), 0);
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
          return entry.errors ? { ...entry, errors: this.#mask(entry.errors) } : entry;
        }),
      }),
      hasNext: true,
    };
  }

  #shown(thrown: readonly GraphQLError[]): object {
    const errors = this.#mask(thrown);
    return errors.length > 0 ? { errors } : {};
  }

  #mask(thrown: readonly GraphQLError[]) {
    const { socketCaller, trace } = this.#context;
    const left = Math.max(0, MAX_ERRORS - this.errors.length);
    for (const error of thrown) this.errors.push(error);
    return maskErrors(thrown.slice(0, left)).errors.map((error) =>
      toFormattedError(socketCaller ? withRequestId(error, trace) : error),
    );
  }
}
