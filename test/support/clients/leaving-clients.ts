import { listenTo, message, subscribeMessage } from './raw-socket.ts';

/** An operation under way, of a client that may leave. */
type Asked = {
  /** Leaves the operation: closes the connection over HTTP, and completes it over WebSocket. */
  leave(): void;
  /** Resolves with the text of the answer, or of a message with it; with null where the client has left before. */
  readonly answer: Promise<string | null>;
};

type Ask = (url: string, query: string, credentials?: Record<string, string>) => Promise<Asked>;

const overFetch =
  (accept: string): Ask =>
  async (url, query, credentials) => {
    const controller = new AbortController();
    const answer = fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, ...credentials },
      body: JSON.stringify({ query }),
      signal: controller.signal,
    }).then((response) => response.text());
    return { leave: () => controller.abort(), answer: answer.catch(() => null) };
  };

const overWebSocket: Ask = async (url, query, credentials) => {
  const client = await listenTo({ url }, credentials);
  const left = Promise.withResolvers<null>();
  client.write(subscribeMessage(query));
  const answered = async (): Promise<string> => {
    for (;;) {
      const [first] = client.received;
      if (first) return JSON.stringify(first.payload);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const answer = Promise.race([answered(), left.promise]);
  void answer.then(() => client[Symbol.dispose]());
  return {
    leave() {
      client.write(message({ id: '1', type: 'complete' }));
      left.resolve(null);
    },
    answer,
  };
};

/** The transports of an operation, each with its way to leave. */
export const LEAVING: readonly (readonly [transport: string, ask: Ask])[] = [
  ['HTTP', overFetch('application/json')],
  ['server-sent events', overFetch('text/event-stream')],
  ['WebSocket', overWebSocket],
];
