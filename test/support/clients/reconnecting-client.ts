import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { eventually } from './subscribe.ts';

/** The client of graphql-ws as it is, but that it waits for less time before it comes back, and does not give up. */
export const startReconnectingClient = (
  gatewayUrl: string,
  connectionParams: () => Promise<Record<string, unknown>> = async () => ({}),
) => {
  const closes: number[] = [];
  let socket: WebSocket | null = null;
  let pongs = 0;
  const client = createClient({
    url: `${gatewayUrl.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams,
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
    // Also when nobody is there yet.
    shouldRetry: () => true,
    on: {
      connected: (connected) => {
        socket = connected as WebSocket;
      },
      pong: (received) => {
        if (received) pongs += 1;
      },
      closed: (event) => closes.push((event as CloseEvent).code),
    },
  });
  return {
    /** The codes that its sockets were closed with. */
    closes,
    /** The answers to a query or a mutation, of which there should be one; rejects with what the client gave up for. */
    ask: (query: string) =>
      new Promise<readonly unknown[]>((resolve, reject) => {
        const answers: unknown[] = [];
        client.subscribe(
          { query },
          { next: (answer) => answers.push(answer), error: reject, complete: () => resolve(answers) },
        );
      }),
    listen(query: string): void {
      client.subscribe({ query }, { next: () => {}, error: () => {}, complete: () => {} });
    },
    /** Resolves when what it has sent so far was read. */
    async heardOut(): Promise<void> {
      // Operations are sent a few turns after they are asked for.
      await new Promise((resolve) => setImmediate(resolve));
      const before = pongs;
      socket?.send(JSON.stringify({ type: 'ping' }));
      await eventually(() => pongs > before);
    },
    [Symbol.asyncDispose]: async () => void (await client.dispose()),
  };
};
