import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Counter, isAdminPath } from './admin.ts';
import type { FaultRule, Faults } from './faults.ts';
import type { FoundOperation, Route, SandboxRequest, SandboxResponse } from './http.ts';
import { json, notAllowed, readRequest, send, text } from './http.ts';

export type HandlerOptions = {
  /** The operation of a path; null when there is none. */
  readonly find: (path: string) => FoundOperation | null;
  /** What else is served, in order. */
  readonly routes: readonly Route[];
  /** The name of the key's header, in lower case. */
  readonly keyHeader: string;
  readonly apiKey: string;
  readonly faults: Faults;
  readonly counter: Counter;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
  /** Aborts delays that faults inject. */
  readonly stopped: AbortSignal;
};

const TOO_LARGE: SandboxResponse = {
  ...text(413, 'Failed to buffer the request body: length limit exceeded'),
  headers: { connection: 'close' },
};

/** Handles a request: applies a fault, checks the key, answers by the operation of the path, and counts it. */
export const createRequestHandler = (options: HandlerOptions): RequestListener => {
  const { find, routes, keyHeader, apiKey, faults, counter, log, stopped } = options;
  const expectedKey = digest(apiKey);

  /** Compares the keys' digests in constant time, whatever the keys' lengths. */
  const isKey = (sent: string | undefined): boolean =>
    sent !== undefined && timingSafeEqual(digest(sent), expectedKey);

  const answer = (
    request: SandboxRequest,
    key: string | undefined,
    fault: FaultRule | null,
  ): SandboxResponse => {
    const found = find(request.path);
    if (found?.operation.needsKey !== false && !isKey(key)) return json(401, { error: 'invalid API Key' });
    if (found !== null && request.method !== 'GET') return notAllowed('GET');
    if (found !== null) return found.operation.answer(request, found.path, fault);
    for (const route of routes) {
      const answered = route(request);
      if (answered !== null) return answered;
    }
    return json(404, { error: 'Not found' });
  };

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    if (request === null) return send(outgoing, TOO_LARGE);
    const isAdmin = isAdminPath(request.path);
    const fault = isAdmin ? null : faults.match(request.method, request.path);
    if (fault?.latencyMs !== undefined) await wait(fault.latencyMs, undefined, { signal: stopped });
    const key = incoming.headers[keyHeader];
    const response =
      faulty(fault, find(request.path)) ?? answer(request, typeof key === 'string' ? key : undefined, fault);
    if (!isAdmin) counter.count(request, response.computeUnits ?? 0);
    send(outgoing, response, fault?.cut);
  };

  return (incoming, outgoing) => {
    handle(incoming, outgoing).catch((problem: unknown) => {
      // A client that disconnects and a sandbox that stops are no failures.
      if (incoming.destroyed || stopped.aborted) return outgoing.destroy();
      log('request failed', { path: incoming.url, problem: String(problem) });
      if (outgoing.headersSent) outgoing.destroy();
      else send(outgoing, text(500, 'Internal server error'));
    });
  };
};

const faulty = (fault: FaultRule | null, found: FoundOperation | null): SandboxResponse | null => {
  if (fault?.status === undefined) return null;
  const { status, headers = {}, body } = fault;
  if (body !== undefined || found === null) return { status, headers, body: body ?? '' };
  const failed = found.operation.fail(status);
  return { ...failed, headers: { ...failed.headers, ...headers } };
};

const digest = (key: string) => createHash('sha256').update(key).digest();
