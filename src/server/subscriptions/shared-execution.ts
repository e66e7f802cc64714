import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  Kind,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
  visit,
} from 'graphql';
import type { Context } from '../../context.ts';
import {
  type EventFeed,
  type EventReader,
  type EventSource,
  isEventSource,
  type SourceEvent,
} from '../../lib/event-source.ts';
import type { MaskError } from '../graphql/errors.ts';
import type { OperationPlugin } from '../graphql/operation-plugin.ts';
import { createRender, type EventObserver, type Frame } from './frame.ts';
import { createOpenDocuments } from './open-documents.ts';

/** A subscription that is ready to begin. */
export type Subscription = {
  /**
   * Reads the events after the cursor `after`; if it is null, from where the operation says. `wake` is called when there
   * may be an event after `take` returned null.
   */
  open(after: string | null, wake: () => void): EventReader<Frame>;
};

/** The result of the pipeline's `subscribe`: the transport opens the subscription, and reads it at its own pace. */
export type SubscribeResult = ExecutionResult & { readonly subscription?: Subscription };

/**
 * Shared execution (fan-out): subscribers with equal operation, variables and rights share the execution of each event and
 * its serialised frame.
 */
export const useSharedExecution = (mask: MaskError, observer: EventObserver): OperationPlugin => {
  const feeds = new Map<string, EventFeed<Frame>>();
  const documents = createOpenDocuments();

  const subscribe = async (args: ExecutionArgs): Promise<SubscribeResult> => {
    const operation = validateSubscriptionArgs(args);
    if (!('schema' in operation)) return { errors: operation };
    const source = await createSourceEventStream(operation);
    if ('errors' in source) return source;
    if (!isEventSource(source)) throw new TypeError('Expected an event source, got another iterable.');
    return { subscription: { open: (after, wake) => open(operation, source, after, wake) } };
  };

  const open = (
    operation: ValidatedSubscriptionArgs,
    source: EventSource<SourceEvent>,
    after: string | null,
    wake: () => void,
  ): EventReader<Frame> => {
    const { authorizationKey, billingKey } = operation.contextValue as Context;
    const { tokenCount: tokens = 0, loc } = operation.document;
    const key = JSON.stringify([authorizationKey(), source.key, operationKey(operation)]);
    try {
      const release = documents.open({ client: billingKey, document: loc?.source.body ?? key, tokens, key });
      return new CountedReader(feedOf(key, operation, source).read(after ?? source.after, wake), release);
    } catch (error) {
      return new FailedReader(error);
    }
  };

  const feedOf = (
    key: string,
    operation: ValidatedSubscriptionArgs,
    source: EventSource<SourceEvent>,
  ): EventFeed<Frame> => {
    const known = feeds.get(key);
    if (known) return known;
    const feed = source.feed({
      render: createRender(operation, mask, observer),
      sizeOf: ({ memoryBytes }) => memoryBytes,
      onIdle: () => feeds.delete(key),
    });
    feeds.set(key, feed);
    return feed;
  };

  return { onSubscribe: ({ setExecuteFn }) => setExecuteFn(subscribe) };
};

/** A reader whose document counts as open until the reader is closed. */
class CountedReader implements EventReader<Frame> {
  readonly #reader: EventReader<Frame>;
  readonly #release: () => void;

  /** `release` is called at each `close`. */
  constructor(reader: EventReader<Frame>, release: () => void) {
    this.#reader = reader;
    this.#release = release;
  }

  take(): Frame | null {
    return this.#reader.take();
  }

  close(): void {
    this.#release();
    this.#reader.close();
  }
}

/** A reader whose first `take` throws the error for which the subscription can't begin. */
class FailedReader implements EventReader<Frame> {
  readonly #error: unknown;

  constructor(error: unknown) {
    this.#error = error;
  }

  take(): Frame | null {
    throw this.#error;
  }

  close(): void {}
}

/**
 * Returns the deduplication key of a subscription: two subscriptions are executed as one if their documents, operations
 * and variables are equal. A variable that says only where to resume is left out.
 */
const operationKey = ({ document, operation, variableValues }: ValidatedSubscriptionArgs): string => {
  const resume = resumeVariable(document, operation.selectionSet.selections);
  const variables = Object.entries(variableValues.coerced).filter(([name]) => name !== resume);
  return JSON.stringify([
    document.loc?.source.body ?? document,
    operation.name?.value ?? null,
    variables.toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ]);
};

type Document = ValidatedSubscriptionArgs['document'];
type Selections = ValidatedSubscriptionArgs['operation']['selectionSet']['selections'];

/** Returns the name of the variable that is the root field's `after` and is used nowhere else, or null. */
const resumeVariable = (document: Document, selections: Selections): string | null => {
  const field = selections.find((selection): selection is FieldNode => selection.kind === Kind.FIELD);
  const after = field?.arguments?.find(({ name }) => name.value === 'after')?.value;
  if (after?.kind !== Kind.VARIABLE) return null;
  let occurrences = 0;
  visit(document, {
    Variable: ({ name }) => {
      if (name.value === after.name.value) occurrences += 1;
    },
  });
  const inDeclaration = 1;
  return occurrences === inDeclaration + 1 ? after.name.value : null;
};
