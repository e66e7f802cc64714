import {
  type ASTNode,
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  type ValidatedSubscriptionArgs,
  type VariableNode,
  validateSubscriptionArgs,
  visit,
} from 'graphql';
import { clientError } from '../../graph/errors.ts';
import type { Executor } from '../../graph/executor.ts';
import {
  type EventFeed,
  type EventReader,
  type EventSource,
  isEventSource,
  type SourceEvent,
} from '../../lib/event-source.ts';
import { rememberEach } from '../../lib/memo.ts';
import { type Attributed, UNATTRIBUTED } from '../graphql/attribution.ts';
import type { MaskError } from '../graphql/errors.ts';
import type { OperationContext, OperationPlugin } from '../graphql/operation-plugin.ts';
import {
  createRender,
  type EventObserver,
  type Frame,
  type Subscriber,
  type SubscriberObserver,
} from './frame.ts';
import { SharedRenders } from './shared-renders.ts';

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
 * its serialised frame, also where they get different events of one source.
 */
export const useSharedExecution = (
  executor: Executor,
  mask: MaskError,
  observer: EventObserver,
): OperationPlugin => {
  const feeds = new Map<string, EventFeed<Frame>>();
  const renders = new SharedRenders((operation) => createRender(operation, executor, mask, observer));
  const documents = new OpenDocuments();

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
    const {
      authorizationKey,
      billingKey,
      trace,
      attributed = UNATTRIBUTED,
    } = operation.contextValue as OperationContext;
    const { tokenCount: tokens = 0, loc } = operation.document;
    const renderKey = JSON.stringify([authorizationKey(), operationKey(operation)]);
    const key = renderKey + source.key;
    try {
      const opened = documents.open({ client: billingKey, document: loc?.source.body ?? key, tokens, key });
      const reader = feedOf(key, renderKey, operation, source).read(after ?? source.after, wake);
      return new CountedReader(reader, opened, { attributed, requestId: trace.requestId, observer });
    } catch (error) {
      return new FailedReader(error);
    }
  };

  const feedOf = (
    key: string,
    renderKey: string,
    operation: ValidatedSubscriptionArgs,
    source: EventSource<SourceEvent>,
  ): EventFeed<Frame> => {
    const known = feeds.get(key);
    if (known) return known;
    const { render, release } = renders.acquire(renderKey, operation);
    const feed = source.feed({
      render,
      sizeOf: ({ memoryBytes }) => memoryBytes,
      onIdle() {
        feeds.delete(key);
        release();
      },
    });
    feeds.set(key, feed);
    return feed;
  };

  return {
    onSubscribe(start) {
      start.executeFn = subscribe;
    },
  };
};

type Origin = Omit<Subscriber, 'lag'> & { readonly observer: EventObserver };

/** A reader that is observed, and whose document counts as open, until the reader is closed. */
class CountedReader implements EventReader<Frame>, Subscriber {
  readonly attributed: Attributed;
  readonly requestId: string;
  readonly #reader: EventReader<Frame>;
  readonly #document: OpenDocument;
  readonly #observer: SubscriberObserver | undefined;

  constructor(reader: EventReader<Frame>, document: OpenDocument, origin: Origin) {
    this.#reader = reader;
    this.#document = document;
    this.attributed = origin.attributed;
    // The same text in one piece: V8 keeps one that was joined, such as a random UUID, as the tree of its parts.
    this.requestId = Buffer.from(origin.requestId).toString();
    this.#observer = origin.observer.subscribed?.(this);
  }

  take(): Frame | null {
    const frame = this.#reader.take();
    if (frame !== null) this.#observer?.taken(Date.now() - frame.receivedAt);
    return frame;
  }

  lag(): number {
    return this.#reader.lag();
  }

  close(): void {
    this.#document.close();
    this.#reader.close();
    this.#observer?.closed();
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

  lag(): number {
    return 0;
  }

  close(): void {}
}

/**
 * Returns the deduplication key of a subscription: an event is executed once for two subscriptions if their documents,
 * operations and variables are equal. A variable that says only which events to read is left out.
 */
const operationKey = ({ document, operation, variableValues }: ValidatedSubscriptionArgs): string => {
  const given = Object.entries(variableValues.coerced);
  const ofSource = given.length > 0 ? sourceVariablesIn(document).get(operation) : undefined;
  const variables = given.filter(([name]) => !ofSource?.includes(name));
  return JSON.stringify([
    document.loc?.source.body ?? document,
    operation.name?.value ?? null,
    variables.toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ]);
};

type Document = ValidatedSubscriptionArgs['document'];

/** Returns the names of the variables that are used in the arguments of the root field alone, by operation. */
const sourceVariablesIn = rememberEach((document: Document): ReadonlyMap<ASTNode, readonly string[]> => {
  const uses = usesOfVariables([document]);
  const inDeclaration = 1;
  const sourceVariables = ({ selectionSet: { selections } }: OperationDefinitionNode): readonly string[] => {
    const field = selections.find((selection): selection is FieldNode => selection.kind === Kind.FIELD);
    const inArguments = usesOfVariables(field?.arguments ?? []);
    return [...inArguments].flatMap(([name, count]) =>
      uses.get(name) === inDeclaration + count ? [name] : [],
    );
  };
  const operations = document.definitions.filter(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  );
  return new Map(operations.map((operation) => [operation, sourceVariables(operation)]));
});

const usesOfVariables = (nodes: readonly ASTNode[]): ReadonlyMap<string, number> => {
  const uses = new Map<string, number>();
  const count = ({ name: { value } }: VariableNode) => void uses.set(value, (uses.get(value) ?? 0) + 1);
  for (const node of nodes) visit(node, { Variable: count });
  return uses;
};

/** What a subscription keeps in memory: its document, and what it shares with equal subscriptions. */
type OpenSubscription = {
  /** The billing key of the subscriber. */
  readonly client: string;
  /** The text of the document. Equal texts are kept in memory once. */
  readonly document: string;
  readonly tokens: number;
  /** Equal for subscriptions that share the execution of each event. */
  readonly key: string;
};

const MAX_TOKENS_EACH = 50_000;
const MAX_TOKENS = 250_000;

/** A subscription's memory beyond its document grows with the length of its key. A character takes less than a token. */
const CHARACTERS_A_TOKEN = 64;

/** Limits the tokens in the documents of open subscriptions, per client and in total. */
export class OpenDocuments {
  readonly #all = new Tally();
  readonly #clients = new Map<string, Tally>();
  /** By client and key. There are many equal subscriptions: they count once, together. */
  readonly #groups = new Map<string, Group>();

  /** Counts a subscription until what is returned is closed. Throws OPERATION_TOO_COMPLEX if it exceeds a limit. */
  open(subscription: OpenSubscription): OpenDocument {
    const name = `${subscription.client}\n${subscription.key}`;
    const group = this.#groups.get(name) ?? this.#count(subscription, name);
    this.#groups.set(name, group);
    return new OpenDocument(group);
  }

  #count({ client, document, tokens, key }: OpenSubscription, name: string): Group {
    const own = this.#clients.get(client) ?? new Tally();
    const parts: readonly Part[] = [
      [`document ${document}`, tokens],
      [key, Math.ceil(key.length / CHARACTERS_A_TOKEN)],
    ];
    if (own.tokensWith(parts) > MAX_TOKENS_EACH) throw tooMany(`${MAX_TOKENS_EACH} tokens of a client`);
    if (this.#all.tokensWith(parts) > MAX_TOKENS) throw tooMany(`${MAX_TOKENS} tokens in all`);
    this.#clients.set(client, own);
    for (const tally of [own, this.#all]) tally.add(parts);
    const end = () => {
      this.#groups.delete(name);
      for (const tally of [own, this.#all]) tally.remove(parts);
      if (own.tokens === 0) this.#clients.delete(client);
    };
    return { subscriptions: 0, end };
  }
}

/** Equal subscriptions of one client. `end` is called when the last one is closed. */
type Group = { subscriptions: number; readonly end: () => void };

class OpenDocument {
  #group: Group | null;

  constructor(group: Group) {
    this.#group = group;
    group.subscriptions += 1;
  }

  /** Further calls have no effect. */
  close(): void {
    if (this.#group === null) return;
    this.#group.subscriptions -= 1;
    if (this.#group.subscriptions === 0) this.#group.end();
    this.#group = null;
  }
}

const tooMany = (limit: string) =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected the documents of open subscriptions to have at most ${limit}, got more.`,
  );

type Part = readonly [name: string, tokens: number];

/** The sum of the tokens of its parts. A part that was added several times counts once. */
class Tally {
  tokens = 0;
  /** How often each part was added. */
  readonly #uses = new Map<string, number>();

  tokensWith(parts: readonly Part[]): number {
    return parts.reduce((sum, [name, tokens]) => sum + (this.#uses.has(name) ? 0 : tokens), this.tokens);
  }

  add(parts: readonly Part[]): void {
    this.tokens = this.tokensWith(parts);
    for (const [name] of parts) this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
  }

  remove(parts: readonly Part[]): void {
    for (const [name] of parts) {
      const uses = (this.#uses.get(name) ?? 0) - 1;
      if (uses > 0) this.#uses.set(name, uses);
      else this.#uses.delete(name);
    }
    this.tokens -= this.tokensWith(parts) - this.tokens;
  }
}
