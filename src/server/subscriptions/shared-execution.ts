import {
  type ASTNode,
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  Kind,
  type ValidatedSubscriptionArgs,
  type VariableNode,
  validateSubscriptionArgs,
  visit,
} from 'graphql';
import { clientError } from '../../graph/errors.ts';
import {
  type EventFeed,
  type EventReader,
  type EventSource,
  isEventSource,
  type SourceEvent,
} from '../../lib/event-source.ts';

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
export const useSharedExecution = (mask: MaskError, observer: EventObserver): OperationPlugin => {
  const feeds = new Map<string, EventFeed<Frame>>();
  const renders = new SharedRenders((operation) => createRender(operation, mask, observer));
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
      const release = documents.open({ client: billingKey, document: loc?.source.body ?? key, tokens, key });
      const reader = feedOf(key, renderKey, operation, source).read(after ?? source.after, wake);
      return new CountedReader(reader, release, { attributed, requestId: trace.requestId, observer });
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
      return undefined;
    },
  };
};

type Origin = Omit<Subscriber, 'lag'> & { readonly observer: EventObserver };

/** A reader that is observed, and whose document counts as open, until the reader is closed. */
class CountedReader implements EventReader<Frame>, Subscriber {
  readonly attributed: Attributed;
  readonly requestId: string;
  readonly #reader: EventReader<Frame>;
  readonly #release: () => void;
  readonly #observer: SubscriberObserver | undefined;

  /** `release` is called at each `close`. */
  constructor(reader: EventReader<Frame>, release: () => void, origin: Origin) {
    this.#reader = reader;
    this.#release = release;
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
    this.#release();
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
  const ofSource = sourceVariables(document, operation.selectionSet.selections);
  const variables = Object.entries(variableValues.coerced).filter(([name]) => !ofSource.includes(name));
  return JSON.stringify([
    document.loc?.source.body ?? document,
    operation.name?.value ?? null,
    variables.toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ]);
};

type Document = ValidatedSubscriptionArgs['document'];
type Selections = ValidatedSubscriptionArgs['operation']['selectionSet']['selections'];

/** Returns the names of the variables that are used in the arguments of the root field alone. */
const sourceVariables = (document: Document, selections: Selections): readonly string[] => {
  const field = selections.find((selection): selection is FieldNode => selection.kind === Kind.FIELD);
  const inArguments = usesOfVariables(field?.arguments ?? []);
  const uses = usesOfVariables([document]);
  const inDeclaration = 1;
  return [...inArguments].flatMap(([name, count]) =>
    uses.get(name) === inDeclaration + count ? [name] : [],
  );
};

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

/** Limits the tokens in the documents of open subscriptions, per client and in total. */
export type OpenDocuments = {
  /**
   * Counts a subscription until the returned function is called; further calls have no effect. Throws
   * OPERATION_TOO_COMPLEX if the subscription exceeds a limit.
   */
  open(subscription: OpenSubscription): () => void;
};

const MAX_TOKENS_EACH = 50_000;
const MAX_TOKENS = 250_000;

/** A subscription's memory beyond its document grows with the length of its key. A character takes less than a token. */
const CHARACTERS_A_TOKEN = 64;

export const createOpenDocuments = (): OpenDocuments => {
  const all = new Tally();
  const clients = new Map<string, Tally>();
  return {
    open({ client, document, tokens, key }) {
      const own = clients.get(client) ?? new Tally();
      const parts: readonly Part[] = [
        [`document ${document}`, tokens],
        [key, Math.ceil(key.length / CHARACTERS_A_TOKEN)],
      ];
      if (own.tokensWith(parts) > MAX_TOKENS_EACH) throw tooMany(`${MAX_TOKENS_EACH} tokens of a client`);
      if (all.tokensWith(parts) > MAX_TOKENS) throw tooMany(`${MAX_TOKENS} tokens in all`);
      clients.set(client, own);
      const [ofOwn, ofAll] = [own.add(parts), all.add(parts)];
      return () => {
        own.remove(ofOwn);
        all.remove(ofAll);
        if (own.tokens === 0 && clients.get(client) === own) clients.delete(client);
      };
    },
  };
};

const tooMany = (limit: string) =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected the documents of open subscriptions to have at most ${limit}, got more.`,
  );

type Part = readonly [name: string, tokens: number];

/** One part, which all subscriptions that add it share: its name may be long. */
type Entry = { readonly name: string; readonly tokens: number; uses: number };

/** The sum of the tokens of its parts. A part that several subscriptions add counts once. */
class Tally {
  tokens = 0;
  readonly #entries = new Map<string, Entry>();

  tokensWith(parts: readonly Part[]): number {
    return parts.reduce((sum, [name, tokens]) => sum + (this.#entries.has(name) ? 0 : tokens), this.tokens);
  }

  /** Adds the parts, until what is returned is removed. */
  add(parts: readonly Part[]): Entry[] {
    return parts.map(([name, tokens]) => this.#use(name, tokens));
  }

  /** Removes what was added, once. */
  remove(entries: Entry[]): void {
    for (const entry of entries.splice(0)) this.#remove(entry);
  }

  #use(name: string, tokens: number): Entry {
    const known = this.#entries.get(name);
    const entry = known ?? { name, tokens, uses: 0 };
    if (!known) {
      this.#entries.set(name, entry);
      this.tokens += tokens;
    }
    entry.uses += 1;
    return entry;
  }

  #remove(entry: Entry): void {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    this.#entries.delete(entry.name);
    this.tokens -= entry.tokens;
  }
}
