/** What the gateway adds to GraphiQL's page: how it sends operations, and how it fits a small window. */

type Request = {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string | null;
};

type Payload = { readonly data?: unknown; readonly hasNext?: boolean };

/**
 * Runs in the page, and is sent there as its own text: it may use nothing from outside of itself. Returns the function by
 * which GraphiQL sends operations. Subscriptions come as server-sent events, which carry the headers of the editor, and are
 * shown as a list, the newest first. The credentials that the console has handed over to this tab are sent along.
 */
const createFetcher = () => {
  const most = 100;
  const handedOver: Record<string, string> = JSON.parse(
    sessionStorage.getItem('graphiql:credentials') ?? '{}',
  );

  async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Payload> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of body) {
      const parts = (text + decoder.decode(bytes, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const data = /^data: (.+)$/m.exec(part)?.[1];
        if (data !== undefined) yield JSON.parse(data);
      }
    }
  }

  async function* shown(response: Response): AsyncGenerator<unknown> {
    if (response.body === null || !response.headers.get('content-type')?.includes('event-stream'))
      return yield await response.json();
    const events: Payload[] = [];
    let received = 0;
    for await (const payload of eventsIn(response.body)) {
      // The parts of one answer are joined by GraphiQL.
      if ('hasNext' in payload) yield payload;
      else {
        events.unshift(payload);
        events.length = Math.min(events.length, most);
        received += 1;
        yield { received, newestFirst: [...events] };
      }
    }
  }

  return async (request: Request, options?: { readonly headers?: Record<string, string> }) => {
    const isStream = /\bsubscription\b|@defer\b|@stream\b/.test(request.query);
    const abort = new AbortController();
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: {
        accept: isStream ? 'text/event-stream' : 'application/graphql-response+json, application/json',
        'content-type': 'application/json',
        ...handedOver,
        ...options?.headers,
      },
      body: JSON.stringify(request),
      signal: abort.signal,
    });
    if (!isStream) return response.json();
    const results = shown(response);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () =>
        results.next().catch((error: unknown) => {
          if (abort.signal.aborted) return { done: true, value: undefined };
          throw error;
        }),
      return() {
        abort.abort();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  };
};

/** On a phone the editors are above the answer. */
const STYLE = `@media (max-width: 45rem) {
  .graphiql-container { --sidebar-width: 44px; }
  .graphiql-container .graphiql-main, .graphiql-container .graphiql-sessions { min-width: 0; }
  .graphiql-container .graphiql-session-header { overflow-x: auto; }
  .graphiql-container .graphiql-logo { display: none; }
  .graphiql-container .graphiql-sessions > div:last-child { flex-direction: column; overflow: auto; }
  .graphiql-container .graphiql-editors, .graphiql-container .graphiql-response { flex: 1 0 20rem !important; min-width: 0; }
  .graphiql-container .graphiql-horizontal-drag-bar { display: none; }
}`;
/** GraphiQL's page with what is added to it; `options` is the text of the options in it. */
export const withAdditions = (html: string, options: string): string => {
  const place = html.lastIndexOf(options);
  if (place < 0) throw new Error('Expected a page of GraphiQL with its options, got another.');
  const end = place + options.length;
  const script = `Object.assign(${options}, { fetcher: (${createFetcher})() })`;
  const page = html.slice(0, place) + script + html.slice(end);
  const head = `<meta name="viewport" content="width=device-width" />\n<style>${STYLE}</style>\n</head>`;
  return page.replace('</head>', () => head);
};
