import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Awaitable } from '../types.ts';

/** Long enough for a replacement of 100,000 addresses. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** A request as it arrives, over HTTP or within the process. */
export type Arrived = {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Null when it is too long. */
  readonly body: string | null;
};

/** Reads a request. The rest of a body that is too long is discarded. */
export const readRequest = async (incoming: IncomingMessage): Promise<Arrived> => {
  const { method = 'GET', url: target = '/', headers } = incoming;
  return { method, target, headers, body: await readBody(incoming) };
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

/** A client that reads a stream this much too slowly has to connect again. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

const headersOf = ({ headers, computeUnits = 0 }: ServiceResponse) => ({
  ...headers,
  'x-compute-units-cost': computeUnits,
});

/** Sends an answer. */
export const send = (outgoing: ServerResponse, answer: ServiceResponse): void => {
  const { status, stream, cut } = answer;
  if (stream !== undefined) {
    outgoing.writeHead(status, headersOf(answer));
    const stop = stream((line) => {
      if (outgoing.writableLength > MAX_UNSENT_BYTES) outgoing.destroy();
      else outgoing.write(line);
    });
    outgoing.once('close', stop);
    return;
  }
  const body = Buffer.from(answer.body ?? '');
  const length = status === 204 ? {} : { 'content-length': body.length };
  outgoing.writeHead(status, { ...headersOf(answer), ...length });
  if (cut !== true) outgoing.end(body);
  else outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
};

/** A part of an answer to a request in the same process, or in a thread of it, without a socket. It can be posted to a thread. */
export type AnswerPart = {
  /** Comes with the first part. */
  readonly head?: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
  /** In memory of its own. */
  readonly chunk?: Buffer<ArrayBuffer>;
  /** Comes with the last part: the answer is whole, it was broken off, or nothing has heard the request. */
  readonly end?: 'whole' | 'broken' | 'unheard';
};

/** Calls `tell` with each part of the answer, in a later turn of the event loop. Returns a function by which the client leaves. */
export type Ask = (asked: Arrived, tell: (part: AnswerPart) => void) => () => void;

/**
 * Passes an answer on in parts, with the headers that HTTP would send. Null passes on a broken connection. Call the returned function
 * when the client leaves: it ends a stream.
 */
export const tellAnswer = (
  answer: ServiceResponse | null,
  tell: (part: AnswerPart) => void,
): (() => void) => {
  if (answer === null) {
    tell({ end: 'broken' });
    return () => {};
  }
  const { status, stream, cut } = answer;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(headersOf(answer))) headers[name.toLowerCase()] = String(value);
  const head = { status, headers };
  if (stream !== undefined) {
    tell({ head });
    return stream((line) => tell({ chunk: bytesOf(line) }));
  }
  const chunk = bytesOf(answer.body ?? '');
  if (status !== 204) headers['content-length'] = String(chunk.length);
  if (cut === true) tell({ head, chunk: chunk.subarray(0, Math.floor(chunk.length / 2)), end: 'broken' });
  else tell({ head, chunk, end: 'whole' });
  return () => {};
};

const bytesOf = (text: string): Buffer<ArrayBuffer> => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
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

export type ServiceRequest = {
  readonly method: string;
  /** The path without the query, still percent-encoded: each route decodes its own segments. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
};

export type ServiceResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of the body; see `json` and `text`. */
  readonly body?: string;
  /** Writes the body in place of `body`, line by line. Returns a function that ends it when the client leaves. */
  readonly stream?: (write: (line: string) => void) => () => void;
  /** Whether only the first half of the body is sent, and then the connection breaks. Default: false. */
  readonly cut?: boolean | undefined;
  /** The cost of the request, sent as `X-Compute-Units-Cost`. */
  readonly computeUnits?: number;
};

/** Answers a request; null when the route does not serve the path. */
export type Route = (request: ServiceRequest) => ServiceResponse | null;

/** A rule of fault injection. All of its effects apply, in the order of the fields. */
export type FaultRule = {
  /** A path without its query; `*` matches any characters. */
  readonly path: string;
  /** Default: any method. */
  readonly method?: string;
  /** The number of requests after which the rule ends. Default: it does not end. */
  readonly count?: number;
  /** Milliseconds by which the answer is delayed. */
  readonly latencyMs?: number;
  /** The status that is answered instead of running the operation, which then does nothing and costs nothing. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: what the service would say with this status. */
  readonly body?: string;
  /** Whether the connection breaks in the middle of the body. */
  readonly cut?: boolean;
  /** What `next_offset` is on a last page. Default: it is absent. */
  readonly lastOffset?: null | '';
  /** By how many items a later page of a list begins too late, or, below 0, too early. */
  readonly shift?: number;
  /** By how many items a page is shorter than its limit. */
  readonly short?: number;
  /** Ids of chains that balances can't be read of: the answer says so in `errors`. */
  readonly failingChains?: readonly number[];
};

/** A GET of the API by the template of its path. */
export type Operation = {
  /** With its parameters in braces, such as `/v1/evm/activity/{address}`. */
  readonly path: string;
  /** Whether the request must carry the key. */
  readonly needsKey: boolean;
  /** `path` has the parameters by their names, still percent-encoded. */
  readonly answer: (
    request: ServiceRequest,
    path: Readonly<Record<string, string>>,
    fault: FaultRule | null,
  ) => Awaitable<ServiceResponse>;
  /** What it answers when a fault makes it fail with a status. */
  readonly fail: (status: number) => ServiceResponse;
};

export type FoundOperation = {
  readonly operation: Operation;
  readonly path: Readonly<Record<string, string>>;
};

/** Finds the operation of a path; null for an unknown path. */
export const createFinder = (operations: readonly Operation[]): ((path: string) => FoundOperation | null) => {
  const patterns = operations.map((operation) => ({
    operation,
    pattern: new RegExp(`^${operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  }));
  return (path) => {
    for (const { operation, pattern } of patterns) {
      const match = pattern.exec(path);
      if (match !== null) return { operation, path: { ...match.groups } };
    }
    return null;
  };
};

export const json = (status: number, value: unknown, computeUnits = 0): ServiceResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
  computeUnits,
});

export const text = (status: number, body: string): ServiceResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
  computeUnits: 0,
});

export const notAllowed = (allow: string): ServiceResponse => ({
  ...text(405, 'Method not allowed'),
  headers: { allow },
});
