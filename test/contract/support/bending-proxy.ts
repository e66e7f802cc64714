import { once } from 'node:events';
import { createServer } from 'node:http';
import { text as read } from 'node:stream/consumers';

/** A request on its way to the service. A bend may change its members. */
export type Passing = {
  method: string;
  path: string;
  readonly query: URLSearchParams;
  /** With the proxy's own address as `x-host`. */
  readonly headers: Record<string, string>;
  body: string;
};

/** An answer on its way back. */
export type Returning = { status: number; readonly headers: Record<string, string>; body: string };

/** How a proxy differs from the service behind it. */
export type Bend = {
  /** Changes a request, or answers it instead of the service. */
  readonly request?: (passing: Passing) => Promise<Returning | undefined> | Returning | undefined;
  /** Changes the answer; `passing` is the request as it was sent on. */
  readonly answer?: (answer: Returning, passing: Passing) => void;
};

export const said = (status: number, body: unknown, headers: Record<string, string> = {}): Returning => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const HOP_BY_HOP = ['connection', 'keep-alive', 'content-length', 'transfer-encoding', 'host'];

const headersOf = (entries: Iterable<readonly [string, unknown]>): Record<string, string> =>
  Object.fromEntries(
    [...entries].flatMap(([name, value]) => (HOP_BY_HOP.includes(name) ? [] : [[name, String(value)]])),
  );

/** A server that passes everything on to a service, bent by what is current. */
export const startBendingProxy = async (serviceUrl: string) => {
  let bend: Bend = {};

  const pass = async (passing: Passing): Promise<Returning> => {
    const instead = await bend.request?.(passing);
    if (instead !== undefined) return instead;
    const { method, path, query, headers, body } = passing;
    const search = query.size === 0 ? '' : `?${query}`;
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const response = await fetch(`${serviceUrl}${path}${search}`, {
      method,
      headers,
      ...(hasBody && { body }),
    });
    const answer = {
      status: response.status,
      headers: headersOf(response.headers),
      body: await response.text(),
    };
    bend.answer?.(answer, passing);
    return answer;
  };

  const server = createServer(async (incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', serviceUrl);
    const answer = await pass({
      method: incoming.method ?? 'GET',
      path: pathname,
      query: searchParams,
      headers: { ...headersOf(Object.entries(incoming.headers)), 'x-host': String(incoming.headers.host) },
      body: await read(incoming),
    });
    outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}`,
    bend: (next: Bend) => {
      bend = next;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
