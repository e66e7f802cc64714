/** What a stream delivers: an answer of GraphQL. */
export type StreamMessage<Data = unknown> = {
  /** Null for an event that has failed, such as one that is too large. */
  readonly data?: Data | null | undefined;
  readonly errors?: readonly unknown[] | undefined;
  readonly extensions?: unknown;
};

/** An operation, as graphql-ws sends it. */
export type StreamPayload = {
  readonly query: string;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: Record<string, unknown> | null | undefined;
};

export type StreamSink<Data = unknown> = {
  next(message: StreamMessage<Data>): void;
  /** Errors of GraphQL that have ended the stream, a close event, or an error of the connection. */
  error(reason: unknown): void;
  complete(): void;
};

/** The part of a graphql-ws client that sends subscriptions. */
type Subscribes = { subscribe(payload: StreamPayload, sink: StreamSink): () => void };

const cursorIn = (value: unknown): string | undefined => {
  const cursor = (value as { readonly cursor?: unknown } | null | undefined)?.cursor;
  return typeof cursor === 'string' ? cursor : undefined;
};

/** The delivery's cursor. An event that did not fit has it in its error. */
const cursorOf = ({ data, errors }: StreamMessage): string | undefined => {
  const [field] = typeof data === 'object' && data !== null ? Object.values(data) : [];
  const [fault] = errors ?? [];
  return cursorIn(field) ?? cursorIn((fault as { readonly extensions?: unknown } | undefined)?.extensions);
};

/** A payload whose `after` is the cursor of the last event that has arrived, and what takes the events. */
export const tracked = (payload: StreamPayload, sink: StreamSink) => {
  const given: Readonly<Record<string, unknown>> = payload.variables ?? {};
  let { after } = given;
  return {
    payload: {
      ...payload,
      // A client writes its message again for each connection, and so reads this again.
      get variables() {
        return after === undefined ? payload.variables : { ...payload.variables, after };
      },
    },
    sink: {
      next(message: StreamMessage) {
        after = cursorOf(message) ?? after;
        sink.next(message);
      },
      error: (reason: unknown) => sink.error(reason),
      complete: () => sink.complete(),
    },
  };
};

/**
 * Wraps a graphql-ws client: a subscription that it sends again begins after the last delivery that has arrived, so that none
 * is missed and none comes twice. The document must declare `$after`, pass it to `deliveries`, and select `cursor`. Its
 * `subscribe` resumes, which is what Apollo Client, urql and Relay use; its `iterate` does not.
 */
export const resuming = <Client extends Subscribes>(client: Client): Client => ({
  ...client,
  subscribe(payload: StreamPayload, sink: StreamSink) {
    const stream = tracked(payload, sink);
    return client.subscribe(stream.payload, stream.sink);
  },
});

/** How long a client waits before it connects again: half a second to a second at first, later ten seconds at most. */
export const waitToReconnect = (retries: number): Promise<void> => {
  const longest = Math.min(1000 * 2 ** retries, 10_000);
  return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
};

/**
 * Options of graphql-ws' `createClient` by which it reconnects until its subscriptions end: `createClient({ url,
 * ...reconnecting })`. By default it gives up after five attempts, and at once where no gateway listens.
 */
export const reconnecting = {
  retryAttempts: Number.POSITIVE_INFINITY,
  // A refused connection is an error, not a close event. Without this it ends every subscription.
  shouldRetry: () => true,
  retryWait: waitToReconnect,
};

/** The part of a graphql-ws client that says what happens to its connection. */
type Watchable = { on(event: 'connected' | 'closed', listener: () => void): () => void };

/** Says whenever events begin to arrive, and when they stop until the client has reconnected. Returns a function that ends it. */
export const watchConnection = (
  client: Watchable,
  changed: (state: 'connected' | 'closed') => void,
): (() => void) => {
  const stops = [
    client.on('connected', () => changed('connected')),
    client.on('closed', () => changed('closed')),
  ];
  return () => {
    for (const stop of stops) stop();
  };
};
