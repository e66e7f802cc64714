import {
  type StreamMessage,
  type StreamPayload,
  type StreamSink,
  tracked,
  waitToReconnect,
} from './resuming.ts';

type Options = {
  /** The URL of the gateway's GraphQL, such as `https://gateway.example.com/graphql`. */
  readonly url: string;
  /** Headers of each request, such as credentials. It is called for each connection, so an expired token is replaced by a new one. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
};

type Listener = () => void;

export type EventStreams = {
  /**
   * Starts a subscription. It reconnects until it ends, each time after the last delivery that has arrived. What ends it are
   * errors of GraphQL. Returns a function that ends it.
   */
  subscribe<Data = unknown>(payload: StreamPayload, sink: StreamSink<Data>): () => void;
  /** Calls the listener when a stream begins, or when one is cut and opened again. Returns a function that ends it. */
  on(event: 'connected' | 'closed', listener: Listener): () => void;
};

/** The gateway writes something at least every 12 seconds. */
const SILENT_MS = 45_000;

/** What may be another answer later: a gateway that starts, or has too many streams. */
const isTransient = (status: number): boolean => status >= 500 || status === 429 || status === 408;

type Stream = Response & { readonly body: ReadableStream<Uint8Array> };

const isStream = (response: Response): response is Stream =>
  response.body !== null && response.headers.get('content-type')?.startsWith('text/event-stream') === true;

/** Resolves to whether that is the end of it. */
const refused = async (response: Response, sink: StreamSink): Promise<boolean> => {
  if (isTransient(response.status)) return false;
  const { errors } = (await response.json().catch(() => ({}))) as StreamMessage;
  sink.error(errors ?? [{ message: `Expected a stream of events, got status ${response.status}.` }]);
  return true;
};

type StreamEvent = { readonly type: string | undefined; readonly data: string };

/** Returns whether that is the end of it. */
const take = ({ type, data }: StreamEvent, sink: StreamSink): boolean => {
  if (type === 'complete') sink.complete();
  if (type !== 'next') return type === 'complete';
  const message = JSON.parse(data) as StreamMessage;
  // What has no data, not even null, ends the stream.
  if (message.data === undefined) sink.error(message.errors);
  else sink.next(message);
  return message.data === undefined;
};

/** The events of a stream: blocks of lines, with an empty line between two. */
async function* eventsIn(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const valuesOf = (name: string) =>
        lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length).trimStart());
      yield { type: valuesOf('event:')[0], data: valuesOf('data:').join('\n') };
    }
  }
}

/**
 * Subscriptions as server-sent events over `fetch`, which resume by themselves. Takes the place of a graphql-ws client in urql
 * and Relay, needs no library, and can send headers, unlike an EventSource. Each subscription is a request:
 * over HTTP/1.1 a browser has at most six of them to a host.
 */
export const createEventStreams = ({ url, headers = () => ({}) }: Options): EventStreams => {
  const listeners = { connected: new Set<Listener>(), closed: new Set<Listener>() };
  const say = (event: 'connected' | 'closed') => {
    for (const listener of listeners[event]) listener();
  };

  const ask = async ({ query, variables, operationName, extensions }: StreamPayload, signal: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { ...(await headers()), accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables, operationName, extensions }),
      signal,
    });

  /** Resolves to true when the stream is over, and to false where it was cut. */
  const read = async (
    payload: StreamPayload,
    sink: StreamSink,
    signal: AbortSignal,
    connected: () => void,
  ): Promise<boolean> => {
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_MS);
    };
    try {
      heard();
      const response = await ask(payload, AbortSignal.any([signal, silence.signal]));
      if (!isStream(response)) return await refused(response, sink);
      connected();
      for await (const event of eventsIn(response.body, heard)) {
        if (signal.aborted || take(event, sink)) return true;
      }
      return false;
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  };

  const run = async (payload: StreamPayload, sink: StreamSink, signal: AbortSignal): Promise<void> => {
    for (let retries = 0; ; retries += 1) {
      let isConnected = false;
      const connected = () => {
        isConnected = true;
        retries = 0;
        say('connected');
      };
      const isOver = await read(payload, sink, signal, connected).catch(() => false);
      if (isConnected) say('closed');
      if (isOver || signal.aborted) return;
      await waitToReconnect(retries);
      if (signal.aborted) return;
    }
  };

  return {
    subscribe(payload, sink) {
      const abort = new AbortController();
      const stream = tracked(payload, sink as StreamSink);
      void run(stream.payload, stream.sink, abort.signal);
      return () => abort.abort();
    },
    on(event, listener) {
      listeners[event].add(listener);
      return () => {
        listeners[event].delete(listener);
      };
    },
  };
};
