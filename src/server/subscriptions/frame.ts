import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type ValidatedSubscriptionArgs,
} from 'graphql';
import type { Context } from '../../context.ts';
import { jsonParts, SerializedData, serializeAnswer } from '../../graph/answer/serialize.ts';
import type { Executor } from '../../graph/executor.ts';
import { ownBytes, totalLength } from '../../lib/buffers.ts';
import type { SourceEvent } from '../../lib/event-source.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
import type { Trace } from '../../lib/trace.ts';
import type { Attributed } from '../graphql/attribution.ts';
import type { MaskError } from '../graphql/errors.ts';
import { limitErrors } from '../graphql/errors.ts';
import { SERVER_SENT_EVENTS } from '../graphql/part-writer.ts';

const END_OF_EVENT = Buffer.from(SERVER_SENT_EVENTS.after);

/** A longer server-sent event is not copied into one part. */
const MAX_JOINED_BYTES = 65_536;

/**
 * The result of executing one event, as JSON: executed and serialised once for all subscribers that share it. It is kept for
 * a while, so its memory is its own.
 */
export class Frame {
  readonly cursor: string;
  /** When the event arrived, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** The JSON. */
  readonly parts: readonly Buffer[];
  readonly #bytes: number;
  #eventStreamBlock: readonly Buffer[] | null = null;

  constructor({ cursor, receivedAt }: SourceEvent, parts: readonly Buffer[]) {
    this.cursor = cursor;
    this.receivedAt = receivedAt;
    this.parts = parts.map(ownBytes);
    this.#bytes = totalLength(parts);
  }

  /** The parts of a server-sent event whose id is the cursor. */
  get eventStreamBlock(): readonly Buffer[] {
    this.#eventStreamBlock ??= this.#createEventStreamBlock();
    return this.#eventStreamBlock;
  }

  /** Its bytes in memory, those of the server-sent event among them. */
  get memoryBytes(): number {
    return this.#isJoined ? 2 * this.#bytes : this.#bytes;
  }

  #createEventStreamBlock(): readonly Buffer[] {
    const id = ownBytes(Buffer.from(`id: ${this.cursor}\n${SERVER_SENT_EVENTS.before}`));
    const block = [id, ...this.parts, END_OF_EVENT];
    return this.#isJoined ? [ownBytes(Buffer.concat(block))] : block;
  }

  /** Whether the server-sent event is a copy in one part: each part costs a subscriber a write. */
  get #isJoined(): boolean {
    return this.#bytes <= MAX_JOINED_BYTES;
  }
}

/** An event that is about to be executed. */
type ExecutedEvent = {
  readonly cursor: string;
  /** The name of the subscription. */
  readonly name: string | null;
  readonly document: DocumentNode;
  readonly trace: Trace;
};

/** A subscription that reads events. */
export type Subscriber = {
  readonly attributed: Attributed;
  readonly requestId: string;
  /** The number of deliveries that it has not passed yet. */
  lag(): number;
};

/** What becomes of a subscriber. */
export type SubscriberObserver = {
  /** Its connection takes an event, this many milliseconds after it arrived. */
  taken(ageMs: number): void;
  closed(): void;
};

export type EventObserver = {
  /** A subscriber begins to read. */
  subscribed?(subscriber: Subscriber): SubscriberObserver | undefined;
  /**
   * An event is executed, once for all subscribers that share it; `executed` follows. `trace` is that of the operation of
   * the first of them. Returns the event's own.
   */
  executing?(event: ExecutedEvent): Trace | undefined;
  /** The event was executed and serialised. `failed` says whether its data has errors. */
  executed?(trace: Trace, failed: boolean): void;
};

/** Returns the function that makes the frame of an event. It keeps no request's context: each event has its own. */
export const createRender = (
  { contextValue, ...operation }: ValidatedSubscriptionArgs,
  executor: Executor,
  mask: MaskError,
  observer: EventObserver,
) => {
  const { forEvent, trace: ofSubscription } = contextValue as Context;
  const { document } = operation;
  const name = operation.operation.name?.value ?? null;
  // The executor reads the coerced variables. The raw ones may be large.
  const args = { ...operation, rawVariableValues: {} };
  const render = (event: SourceEvent, context: ReturnType<typeof forEvent>): MaybePromise<Frame> => {
    const executed = { cursor: event.cursor, name, document, trace: ofSubscription };
    const trace = observer.executing?.(executed) ?? ofSubscription;
    const execution = executor({ ...args, rootValue: event, contextValue: context });
    const frameOf = (answer: ExecutionResult): Frame => {
      const { data, errors } = limitErrors(answer);
      observer.executed?.(trace, errors !== undefined);
      const formatted = errors?.map((error) =>
        toFormattedError(error === context.answer.limitError ? withCursor(error, event) : mask(error, trace)),
      );
      const result = {
        data,
        ...(formatted && { errors: formatted }),
        extensions: { upstream: context.upstream },
      };
      return new Frame(
        event,
        data instanceof SerializedData ? jsonParts(result, data) : [Buffer.from(JSON.stringify(result))],
      );
    };
    const answer = serializeAnswer(execution, context.answer);
    return answer instanceof Promise ? answer.then(frameOf) : frameOf(answer);
  };
  return (event: SourceEvent): MaybePromise<Frame> => {
    const context = forEvent();
    // Executions of all feeds take turns.
    if (context.answer.canContinue) return render(event, context);
    return context.answer.nextSlice().then(() => render(event, context));
  };
};

/** The error with the cursor of the event that it concerns. */
const withCursor = ({ message, extensions }: GraphQLError, { cursor }: SourceEvent): GraphQLError =>
  new GraphQLError(message, { extensions: { ...extensions, cursor } });

/** The error as JSON, without the `http` extension: the error has no HTTP response of its own. */
export const toFormattedError = (error: GraphQLError): GraphQLFormattedError => {
  const { extensions, ...rest } = error.toJSON();
  const { http, ...others } = extensions ?? {};
  return { ...rest, extensions: others };
};
