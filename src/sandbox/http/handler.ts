import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { isImagePath } from '../lookups/image.ts';
import { isLogoPath } from '../lookups/logo.ts';
import { isControlPath } from './admin-routes.ts';
import type { FaultRule, Faults } from './faults.ts';
import { readRequest, send } from './node-http.ts';
import type { Route, SandboxRequest, SandboxResponse } from './route.ts';
import { json, text } from './route.ts';
import type { Counter } from './stats.ts';

export type ServiceOptions = {
  readonly routes: readonly Route[];
  /** In lower case. */
  readonly keyHeader: string;
  readonly apiKey: string;
  readonly faults: Faults;
  readonly counter: Counter;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
  /** Ends what is held back on purpose. */
  readonly stopped: AbortSignal;
};

const TOO_LARGE: SandboxResponse = {
  ...text(413, 'Failed to buffer the request body: length limit exceeded'),
  headers: { connection: 'close' },
};

/** Every request in turn: its key, the fault that meets it if any, the route that answers, and the count. */
export const createService = (options: ServiceOptions): RequestListener => {
  const { routes, keyHeader, apiKey, faults, counter, log, stopped } = options;
  const expectedKey = digest(apiKey);

  /** Compares in constant time, whatever the lengths. */
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
    const isControl = isControlPath(request.path);
    const fault = isControl ? null : faults.meet(request.method, request.path);
    if (fault?.latencyMs !== undefined) await wait(fault.latencyMs, undefined, { signal: stopped });
    const key = incoming.headers[keyHeader];
    const response = faulty(fault) ?? answer(request, typeof key === 'string' ? key : undefined);
    if (!isControl) counter.count(request, response.computeUnits ?? 0);
    send(outgoing, response, fault?.cut);
  };

  return (incoming, outgoing) => {
    handle(incoming, outgoing).catch((problem: unknown) => {
      // A client that went away, or a sandbox that stops, is nobody's mistake.
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
