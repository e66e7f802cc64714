import { type Client, createClient } from 'graphql-ws';

/** The part of a message of `deliveries` that has its cursor. */
type Message = {
  readonly data?: { readonly deliveries?: { readonly cursor?: string } | null } | null;
  readonly errors?: readonly { readonly extensions?: { readonly cursor?: string } }[];
};

/** The delivery's cursor. An event that did not fit has it in its error. */
const cursorOf = ({ data, errors }: Message): string | undefined =>
  data?.deliveries?.cursor ?? errors?.[0]?.extensions?.cursor;

/** Wraps a client: a subscription that it sends again begins after the last delivery that has arrived. */
export const resuming = (client: Client): Client => ({
  ...client,
  subscribe(payload, sink) {
    let after = payload.variables?.after;
    const resumed = {
      ...payload,
      // The client writes its message again for each connection, and so reads this again.
      get variables() {
        return { ...payload.variables, after };
      },
    };
    return client.subscribe(resumed, {
      next(message: Parameters<typeof sink.next>[0]) {
        after = cursorOf(message as Message) ?? after;
        sink.next(message);
      },
      error: (reason) => sink.error(reason),
      complete: () => sink.complete(),
    });
  },
});

/** Makes a client that always reconnects: half a second to a second after the first cut, later after half a minute at most. */
export const createSocket = (url: string, connectionParams: () => Record<string, unknown> = () => ({})) =>
  createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    connectionParams,
    retryAttempts: Number.POSITIVE_INFINITY,
    // A refused connection is an error, not a close event. Without this line it ends every subscription.
    shouldRetry: () => true,
    retryWait: (retries) => {
      const longest = Math.min(1000 * 2 ** retries, 30_000);
      return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
    },
  });

/** Says whenever events begin to arrive, and when they stop until the client has reconnected. Returns a function that ends it. */
export const watchConnection = (client: Client, changed: (state: 'connected' | 'closed') => void) => {
  const stops = [
    client.on('connected', () => changed('connected')),
    client.on('closed', () => changed('closed')),
  ];
  return () => {
    for (const stop of stops) stop();
  };
};
