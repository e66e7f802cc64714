import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { lookupAt } from '../lookups/samples.ts';
import { toJson } from './json.ts';

/** One request as the service saw it. */
export type SeenRequest = {
  method: string;
  path: string;
  /** The last part of a lookup's path, as it was sent. */
  address: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  /** How many requests were under way when this one came, itself included. */
  concurrency: number;
  /** When it came, in milliseconds since 1970. */
  at: number;
  /** Whether its client went away before it was answered. */
  abandoned: boolean;
};

export type Reply = {
  status?: number;
  headers?: Record<string, string>;
  /** Written as JSON; a bigint becomes a number with all its digits. */
  json?: unknown;
  /** Written as it is. */
  text?: string;
  /** Waits so long before the first byte. */
  latencyMs?: number;
  /** Promises the whole body, sends this many bytes of it, and cuts the connection. */
  cutAfterBytes?: number;
  /** The places in the body at which one write ends and, a moment later, the next one begins. */
  pausesAt?: readonly number[];
  /** Never answers: the connection stays open until the client goes away. */
  silent?: boolean;
};

export type Answer = (request: SeenRequest) => Reply | Promise<Reply>;

export type Script = {
  /** By the names of lookups. */
  [lookup: string]: Answer | undefined;
  transactions?: Answer;
  collectibles?: Answer;
  /** The list of chains. */
  chains?: Answer;
  /** Everything else: webhook management, images. */
  other?: Answer;
};

/** The first answers one after the other, and then the last of them for good. */
export const inTurn = (...answers: readonly [Answer, ...Answer[]]): Answer => {
  const left = [...answers];
  return (request) => ((left.length > 1 ? left.shift() : left[0]) ?? unscripted)(request);
};

/** Nothing is served that a test did not script, so that a stray request shows. */
const unscripted: Answer = ({ method, path }) => ({ status: 404, text: `not scripted: ${method} ${path}` });

export const startFakeService = async (script: Script = {}) => {
  const requests: SeenRequest[] = [];
  let underWay = 0;

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
    });
    const arrival = { concurrency: underWay, at: Date.now(), abandoned: false };
    const seen = { ...describe(request), body: await text(request), ...arrival };
    response.once('close', () => {
      seen.abandoned = !response.writableEnded;
    });
    // Each gateway reads the list of chains when it starts: it is seen only by tests that script it.
    if (seen.path !== CHAINS || script.chains !== undefined) requests.push(seen);
    await send(response, await answerFor(script, seen.path)(seen));
  };

  const server = createServer((request, response) => {
    // A client that aborts, or a script that throws, ends its own exchange and nothing else.
    serve(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  // Longer than the gateway keeps idle connections: a request on one that is being closed is sent twice.
  server.keepAliveTimeout = 65_000;
  const port = await freePort();
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const close = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  await listen();

  return {
    url: `http://127.0.0.1:${port}`,
    /** Every request so far, in the order of arrival. */
    requests,
    /** Scripts can be swapped while the service runs. */
    script,
    /** Connections are refused until it comes back. */
    goDown: close,
    comeBack: listen,
    [Symbol.asyncDispose]: close,
  };
};

export type FakeService = Awaited<ReturnType<typeof startFakeService>>;

const CHAINS = '/v1/evm/supported-chains';

const answerFor = (script: Script, path: string): Answer => {
  if (path === CHAINS) return script.chains ?? unscripted;
  return script[lookupAt(path)?.name ?? 'other'] ?? unscripted;
};

const describe = (request: IncomingMessage) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
  return {
    method: request.method ?? '',
    path: pathname,
    address: pathname.slice(pathname.lastIndexOf('/') + 1),
    query: searchParams,
    headers: request.headers,
  };
};

/** Those of the statuses that say: nothing was done. */
const UNBILLED: ReadonlySet<number> = new Set([401, 402, 429]);

const send = async (response: ServerResponse, reply: Reply) => {
  if (reply.silent) return;
  // The timer is let go of, so that a reply nobody waits for keeps no test process alive.
  if (reply.latencyMs) await delay(reply.latencyMs, undefined, { ref: false });
  const body = Buffer.from(reply.text ?? (reply.json === undefined ? '' : toJson(reply.json)));
  const headers = new Headers({
    'content-type': reply.text === undefined ? 'application/json' : 'text/plain',
    ...(UNBILLED.has(reply.status ?? 200) ? {} : { 'x-compute-units-cost': '1' }),
  });
  for (const [name, value] of Object.entries(reply.headers ?? {})) headers.set(name, value);
  headers.set('content-length', String(body.length));
  response.writeHead(reply.status ?? 200, Object.fromEntries(headers));
  if (reply.cutAfterBytes === undefined) {
    let written = 0;
    for (const place of reply.pausesAt ?? []) {
      response.write(body.subarray(written, place));
      written = place;
      await delay(20);
    }
    response.end(body.subarray(written));
    return;
  }
  response.write(body.subarray(0, reply.cutAfterBytes), () => response.destroy());
};
