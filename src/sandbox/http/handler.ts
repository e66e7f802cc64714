import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { isImagePath, isLogoPath } from '../lookups/pictures.ts';
import type { Counter, FaultRule, Faults } from './admin.ts';
import { isAdminPath } from './admin.ts';
import type { Route, SandboxRequest, SandboxResponse } from './http.ts';
import { json, readRequest, send, text } from './http.ts';

export type HandlerOptions = {
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

/** Handles a request: applies a fault, checks the key, calls the first route that answers, and counts the request. */
export const createRequestHandler = (options: HandlerOptions): RequestListener => {
  const { routes, keyHeader, apiKey, faults, counter, log, stopped } = options;
  const expectedKey = digest(apiKey);

  /** Compares the keys' digests in constant time, whatever the keys' lengths. */
  const isKey = (sent: string | undefined): boolean =>
    sent !== undefined && timingSafeEqual(digest(sent), expectedKey);

  const answer = (request: SandboxRequest, key: string | undefined): SandboxResponse => {
    const isPicture = isImagePath(request.path) || isLogoPath(request.path);
    if (!isPicture && !isKey(key)) return json(401, { error: 'invalid API Key' });
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
    const response = faulty(fault) ?? answer(request, typeof key === 'string' ? key : undefined);
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

const faulty = (fault: FaultRule | null): SandboxResponse | null => {
  if (fault?.status === undefined) return null;
  const { status, headers = {}, body = '' } = fault;
  return { status, headers, body };
};

const digest = (key: string) => createHash('sha256').update(key).digest();
