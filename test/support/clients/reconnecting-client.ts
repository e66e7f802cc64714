import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { eventually } from './subscribe.ts';

/** The client of graphql-ws, but it retries after 50 ms and without a limit. */
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
    // Also while no gateway listens.
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
    /** The close codes of its sockets. */
    closes,
    /** Resolves with the answers to a query or a mutation: normally one. Rejects with the client's final error. */
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
    /** Resolves when the gateway has read all that the client sent before. */
    async roundTrip(): Promise<void> {
      // graphql-ws sends an operation some turns after `subscribe`.
      await new Promise((resolve) => setImmediate(resolve));
      const before = pongs;
      socket?.send(JSON.stringify({ type: 'ping' }));
      await eventually(() => pongs > before);
    },
    // It rejects while its connection can't be opened; then there is nothing to close.
    [Symbol.asyncDispose]: async () => void (await Promise.allSettled([client.dispose()])),
  };
};
