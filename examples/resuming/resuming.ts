import { type Client, createClient } from 'graphql-ws';

/** What a message of `deliveries` can hold, as far as its place in the log goes. */
type Message = {
  readonly data?: { readonly deliveries?: { readonly cursor?: string } | null } | null;
  readonly errors?: readonly { readonly extensions?: { readonly cursor?: string } }[];
};

/** Of the delivery; where there was no room to answer, the error names it. */
const cursorOf = ({ data, errors }: Message): string | undefined =>
  data?.deliveries?.cursor ?? errors?.[0]?.extensions?.cursor;

/** The same client, but a subscription that it sends again begins after the last delivery that has come. */
export const resuming = (client: Client): Client => ({
  ...client,
  subscribe(payload, sink) {
    let after = payload.variables?.after;
    const resumed = {
      ...payload,
      // The client writes its message anew for each connection, and so reads this again.
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

/** A client of graphql-ws that comes back for good: half a second to a second after the first cut, half a minute at most. */
export const createSocket = (url: string, connectionParams: () => Record<string, unknown> = () => ({})) =>
  createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    connectionParams,
    retryAttempts: Number.POSITIVE_INFINITY,
    // A refused connection is an error and no close event: without this it ends every subscription.
    shouldRetry: () => true,
    retryWait: (retries) => {
      const longest = Math.min(1000 * 2 ** retries, 30_000);
      return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
    },
  });
