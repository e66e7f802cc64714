import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';

export type Edge = { cursor: string; node: Record<string, unknown> };

const DELIVERIES = `
  subscription ($after: String, $filter: DeliveryFilter) {
    deliveries(after: $after, filter: $filter) { cursor node { id webhookId type payload } }
  }`;

type Options = {
  readonly after?: string;
  readonly filter?: object;
  readonly query?: string;
  /** Variables beside `after` and `filter`. */
  readonly variables?: Record<string, unknown>;
  readonly connectionParams?: Record<string, unknown>;
  readonly extensions?: Record<string, unknown>;
};

/** Subscribes over WebSocket by the client of graphql-ws, and collects events in order, errors and close codes. */
export const subscribe = (gatewayUrl: string, options: Options = {}) => {
  const { after, filter, query = DELIVERIES, variables, connectionParams, extensions } = options;
  const edges: Edge[] = [];
  const faults: { message: string; extensions: { code: string } }[] = [];
  const closes: number[] = [];
  const opened = Promise.withResolvers<void>();
  const client: Client = createClient({
    url: `${gatewayUrl.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => {},
    ...(connectionParams && { connectionParams }),
    on: {
      connected: () => opened.resolve(),
      closed: (event) => closes.push((event as CloseEvent).code),
    },
  });
  const ended = Promise.withResolvers<void>();
  const stop = client.subscribe<{ deliveries: Edge }>(
    { query, variables: { ...variables, after, filter }, ...(extensions && { extensions }) },
    {
      next: ({ data, errors }) => {
        if (data?.deliveries) edges.push(data.deliveries);
        for (const error of errors ?? []) faults.push(error as unknown as (typeof faults)[number]);
      },
      error: (error) => {
        if (Array.isArray(error)) faults.push(...error);
        ended.resolve();
      },
      complete: () => ended.resolve(),
    },
  );
  return {
    edges,
    faults,
    closes,
    opened: opened.promise,
    ended: ended.promise,
    stop,
    async [Symbol.asyncDispose]() {
      stop();
      // It rejects while its connection can't be opened; then there is nothing to close.
      await Promise.allSettled([client.dispose()]);
    },
  };
};

/** Waits until `holds` returns true. Rejects after `withinMs`, with the value of `shown`. */
export const eventually = async (
  holds: () => boolean,
  shown: () => unknown = () => '',
  withinMs = 240_000,
): Promise<void> => {
  const deadline = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadline)
      throw new Error(`the condition did not hold within ${withinMs / 1000} s: ${JSON.stringify(shown())}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
