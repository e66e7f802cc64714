import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Long enough for a replacement of 100,000 addresses. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Reads a request; null when its body is too long. The rest of such a body is discarded. */
export const readRequest = async (incoming: IncomingMessage): Promise<SandboxRequest | null> => {
  const body = await readBody(incoming);
  if (body === null) return null;
  const [path = '/', ...query] = (incoming.url ?? '/').split('?');
  const method = incoming.method ?? 'GET';
  return { method, path, query: new URLSearchParams(query.join('?')), body };
};

const readBody = async (incoming: IncomingMessage): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  // The socket stays open after a body that is too long, for the answer that says so.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      incoming.resume();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** Sends an answer. With `cut`, sends only the first half of its body and then breaks the connection. */
export const send = (outgoing: ServerResponse, answer: SandboxResponse, cut = false): void => {
  const body = Buffer.from(answer.body ?? '');
  const { computeUnits = 0 } = answer;
  outgoing.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status !== 204 && { 'content-length': body.length }),
    'x-compute-units-cost': computeUnits,
  });
  if (!cut) outgoing.end(body);
  else outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
};

/** Listens, and resolves with the url. Rejects when the port is taken or the host is not this machine's. */
export const listen = (server: Server, host: string, port: number): Promise<string> => {
  // Longer than clients keep idle connections, so that none is closed under a request.
  server.keepAliveTimeout = 65_000;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
};

/**
 * Requests, responses and routes, which the sandbox's parts share. `node-http.ts` converts them from and to node:http.
 */

export type SandboxRequest = {
  readonly method: string;
  /** The path without the query, still percent-encoded: each route decodes its own segments. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
};

export type SandboxResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of the body; see `json` and `text`. */
  readonly body?: string;
  /** The cost of the request, sent as `X-Compute-Units-Cost`. */
  readonly computeUnits?: number;
};

/** Answers a request; null when the route does not serve the path. */
export type Route = (request: SandboxRequest) => SandboxResponse | null;

export const json = (status: number, value: unknown, computeUnits = 0): SandboxResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
  computeUnits,
});

export const text = (status: number, body: string): SandboxResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
  computeUnits: 0,
});
