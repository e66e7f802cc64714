import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { answerFor, CLIENT_HEADER } from './asking-client.ts';
import { changesOperation } from './changes.ts';
import type { Log } from './dispatch/log.ts';
import {
  createWebhooks,
  WEBHOOKS_PATH,
  type Webhooks,
  type WebhooksOptions,
  webhookPath,
} from './dispatch/webhooks.ts';
import { createOperations, indexOf } from './endpoints/registry.ts';
import type { ExplorerHealth } from './explorer/figures.ts';
import {
  type Arrived,
  type Ask,
  createFinder,
  type FaultRule,
  type FoundOperation,
  json,
  listen,
  MAX_BODY_BYTES,
  notAllowed,
  type Operation,
  type Route,
  readRequest,
  type ServiceRequest,
  type ServiceResponse,
  send,
  tellAnswer,
  text,
} from './http/http.ts';
import { Cursors } from './http/query.ts';
import type { ChainStatus, Source } from './source.ts';
import type { Awaitable } from './types.ts';

type ServiceOptions = Omit<WebhooksOptions, 'data' | 'now'> & {
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /** Null where it is only asked within its process. Default: a free port. */
  readonly port?: number | null | undefined;
  readonly apiKey: string;
  /** The header that carries the key. Default: `X-Service-Api-Key`. */
  readonly keyHeader?: string | undefined;
  /** The secret that authenticates offsets. Default: the key. */
  readonly cursorSecret?: string | undefined;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  readonly extras?: Extras | undefined;
  /** Why no webhook can be created, as a sentence; null where one can. Default: null. */
  readonly noWebhooks?: string | null | undefined;
  /** What `/health` says of the explorers that chains are read from. */
  readonly explorers?: (() => readonly ExplorerHealth[]) | undefined;
};

/** What a service adds to the contract: the sandbox counts requests, and injects faults. */
type Extras = {
  /** What else is served, in order. */
  readonly routes: readonly Route[];
  /** The fault that a request meets; null for none. */
  faultOf(request: ServiceRequest): FaultRule | null;
  /** Called after each answer. `operation` is the path with its parameters in braces; null when it is unknown. */
  answered(request: ServiceRequest, operation: string | null, computeUnits: number): void;
};

export type RunningService = {
  /** Without a trailing slash. Empty where it does not listen. */
  readonly url: string;
  /** Answers with the same statuses, headers and bytes as over HTTP. */
  readonly ask: Ask;
  readonly webhooks: Webhooks;
  /** Ends connections and deliveries. Resolves when all of them have ended. */
  stop(): Promise<void>;
};

/**
 * Serves the contract over a source: its data as lookups, and its blocks as deliveries. The caller starts and stops the
 * source.
 * @throws when the port is taken or the host is not this machine's.
 */
export const startService = async (source: Source, options: ServiceOptions): Promise<RunningService> => {
  const { host = '127.0.0.1', port = 0, apiKey, keyHeader = 'X-Service-Api-Key' } = options;
  const { now = Date.now, log = () => {}, extras = NO_EXTRAS } = options;

  let url = '';
  const webhooks = createWebhooks({ ...options, data: source, now });
  source.onBlock({
    added: (block) => webhooks.handleBlock(block),
    traced: webhooks.handleBlock,
    removed: webhooks.dropBlocks,
  });

  const cursors = new Cursors(options.cursorSecret ?? apiKey);
  const stopping = new AbortController();
  const answer = createRequestHandler({
    find: createFinder([
      ...createOperations({ data: source, now, cursors, baseUrl: () => url }),
      ...(source.changes === null ? [] : [changesOperation(source.changes)]),
      ...source.operations,
      health(source, options.explorers),
    ]),
    routes: [refuseCreation(options.noWebhooks ?? null), webhooks.route, ...extras.routes],
    keyHeader: keyHeader.toLowerCase(),
    apiKey,
    extras,
    log,
    stopped: stopping.signal,
  });
  const server = createServer(
    (incoming, outgoing) =>
      void answer(readRequest(incoming), (answered) =>
        answered === null || outgoing.headersSent ? outgoing.destroy() : send(outgoing, answered),
      ),
  );
  if (port !== null) url = await listen(server, host, port);
  return {
    url,
    webhooks,
    ask(asked, tell) {
      const body = Buffer.byteLength(asked.body ?? '') > MAX_BODY_BYTES ? null : asked.body;
      let hasLeft = false;
      let leave = () => {};
      const deliver = (answered: ServiceResponse | null): void => {
        if (!hasLeft) leave = tellAnswer(answered, tell);
        if (hasLeft) leave();
      };
      // A turn for each request lets timers fire and clients leave while one asks for page after page.
      setImmediate(() => void (hasLeft || answer({ ...asked, body }, deliver)));
      return () => {
        hasLeft = true;
        leave();
      };
    },
    async stop() {
      stopping.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, webhooks.stop()]);
    },
  };
};

/** Refuses to create webhooks, for this reason. */
const refuseCreation =
  (reason: string | null): Route =>
  ({ method, path }) =>
    reason !== null && method === 'POST' && path === WEBHOOKS_PATH ? text(400, reason) : null;

const NO_EXTRAS: Extras = { routes: [], faultOf: () => null, answered() {} };

/** Why chains are not followed, and how far each chain is indexed. */
export type ServiceHealth = {
  readonly problems: readonly string[];
  readonly chains: readonly object[];
  /** What is known of the explorers that chains are read from; undefined for a service without any. */
  readonly explorers?: readonly ExplorerHealth[] | undefined;
};

export const healthOf = (
  chains: readonly ChainStatus[],
  explorers?: readonly ExplorerHealth[] | undefined,
): ServiceHealth => ({
  problems: chains.flatMap(({ chainId, index, problem }) => {
    const reason = problem ?? (index === null ? 'no block is known yet' : null);
    return reason === null ? [] : [`chain ${chainId}: ${reason}`];
  }),
  chains: chains.map((status) => ({ chain_id: status.chainId, ...indexOf(status) })),
  explorers,
});

/** For probes: 200 while every chain is followed, or 503. */
const health = (source: Source, explorers: ServiceOptions['explorers']): Operation => ({
  path: '/health',
  needsKey: false,
  answer() {
    const { problems, ...rest } = healthOf(source.status(), explorers?.());
    return problems.length === 0
      ? json(200, { status: 'ok', ...rest })
      : json(503, { status: 'unavailable', problems, ...rest });
  },
  fail: (status) => ({ status }),
});

type HandlerOptions = {
  /** The operation of a path; null for an unknown path. */
  readonly find: (path: string) => FoundOperation | null;
  /** What else is served, in order. */
  readonly routes: readonly Route[];
  /** The name of the key's header, in lower case. */
  readonly keyHeader: string;
  readonly apiKey: string;
  readonly extras: Extras;
  readonly log: Log;
  /** Aborts delays that faults inject. */
  readonly stopped: AbortSignal;
};

const TOO_LARGE: ServiceResponse = {
  ...text(413, 'Failed to buffer the request body: length limit exceeded'),
  headers: { connection: 'close' },
};

/**
 * Handles a request: applies a fault, checks the key, and delivers the answer of the operation of the path: null when the
 * client has left, or the service has stopped.
 */
const createRequestHandler = (options: HandlerOptions) => {
  const { find, routes, keyHeader, apiKey, extras, log, stopped } = options;
  const expectedKey = digest(apiKey);

  /** Compares the keys' digests in constant time, whatever the keys' lengths. */
  const isKey = (sent: string | undefined): boolean =>
    sent !== undefined && timingSafeEqual(digest(sent), expectedKey);

  const answer = (
    request: ServiceRequest,
    found: FoundOperation | null,
    key: string | undefined,
    fault: FaultRule | null,
  ): Awaitable<ServiceResponse> => {
    if (found?.operation.needsKey !== false && !isKey(key)) return json(401, { error: 'invalid API Key' });
    if (found !== null && request.method !== 'GET') return notAllowed('GET');
    if (found !== null) return found.operation.answer(request, found.path, fault);
    for (const route of routes) {
      const answered = route(request);
      if (answered !== null) return answered;
    }
    return json(404, { error: 'Not found' });
  };

  const handle = async ({ method, target, headers, body }: Arrived): Promise<ServiceResponse> => {
    if (body === null) return TOO_LARGE;
    const [path = '/', ...query] = target.split('?');
    const request = { method, path, query: new URLSearchParams(query.join('?')), body };
    const found = find(path);
    const fault = extras.faultOf(request);
    if (fault?.latencyMs !== undefined) await wait(fault.latencyMs, undefined, { signal: stopped });
    const key = headerOf(headers, keyHeader);
    const client = headerOf(headers, CLIENT_HEADER) ?? null;
    const response =
      faulty(fault, found) ?? (await answerFor(client, () => answer(request, found, key, fault)));
    extras.answered(request, found?.operation.path ?? webhookPath(path), response.computeUnits ?? 0);
    return fault?.cut === true ? { ...response, cut: true } : response;
  };

  return async (
    arriving: Awaitable<Arrived>,
    deliver: (answered: ServiceResponse | null) => void,
  ): Promise<void> => {
    let target: string | null = null;
    try {
      const arrived = await arriving;
      ({ target } = arrived);
      deliver(await handle(arrived));
    } catch (problem) {
      if (target === null || stopped.aborted) return deliver(null);
      log('request failed', { path: target, problem: String(problem) });
      deliver(text(500, 'Internal server error'));
    }
  };
};

const headerOf = (headers: Arrived['headers'], name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

const faulty = (fault: FaultRule | null, found: FoundOperation | null): ServiceResponse | null => {
  if (fault?.status === undefined) return null;
  const { status, headers = {}, body } = fault;
  if (body !== undefined || found === null) return { status, headers, body: body ?? '' };
  const failed = found.operation.fail(status);
  return { ...failed, headers: { ...failed.headers, ...headers } };
};

const digest = (key: string) => createHash('sha256').update(key).digest();
