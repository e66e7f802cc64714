import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  Counter,
  createFaultsRoute,
  createStatsRoute,
  Faults,
  isAdminPath,
  type Stats,
} from './http/admin.ts';
import type { FaultRule } from './http/http.ts';
import {
  createFinder,
  type FoundOperation,
  json,
  listen,
  notAllowed,
  type Route,
  readRequest,
  type SandboxRequest,
  type SandboxResponse,
  send,
  text,
} from './http/http.ts';
import { logoPath } from './http/pictures.ts';
import { Cursors } from './http/query.ts';
import { createOperations } from './lookups/registry.ts';
import { ChainSimulator } from './simulated/chain/simulator.ts';
import { DEMO_SUBSCRIBERS, DEMO_WALLETS, type DemoWallet } from './simulated/chain/wallet-profiles.ts';
import type { Block, Hex } from './types.ts';
import { createWebhooks, type Webhooks, webhookPath } from './webhooks/webhooks.ts';

export type SandboxOptions = {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Default: `sandbox`. */
  readonly apiKey?: string;
  /** The header that carries the key. Default: `X-Service-Api-Key`. */
  readonly keyHeader?: string;
  /** The seed of the history and the live blocks. Default: `sandbox`. */
  readonly seed?: string;
  /** Milliseconds between two live blocks of a chain. Default: 2,000. */
  readonly blockMs?: number;
  /** Whether clients can inject faults over HTTP. Default: false. */
  readonly faults?: boolean;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
  /** Milliseconds that a webhook's url has to answer a delivery; see WebhooksOptions. */
  readonly deliveryTimeoutMs?: number;
  /** Milliseconds before a delivery's first retry; see WebhooksOptions. */
  readonly retryBaseMs?: number;
  /** The secret that signs deliveries. Default: deliveries are unsigned. */
  readonly signatureSecret?: string;
  readonly log?: (message: string, details: Readonly<Record<string, unknown>>) => void;
};

/** A running sandbox. All of its state is in memory, and is lost when it stops. */
export type Sandbox = {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /** The wallets with data. */
  readonly wallets: readonly DemoWallet[];
  readonly simulator: ChainSimulator;
  readonly webhooks: Webhooks;
  /** Injected faults. Within this process they work also when `faults` is off. */
  readonly faults: Faults;
  stats(): Stats;
  /** Makes the next block of a chain, and delivers its events. */
  mine(chainId: number): Block;
  /** Makes the next block of every live chain. */
  tick(): readonly Block[];
  /** Starts the clock, which makes live blocks from then on. */
  startClock(): void;
  /** Points the demo webhooks at a url: the same for all, or one for each id. */
  connectDemo(url: string | ((webhookId: string) => string)): void;
  /** Connects the demo webhooks and starts the clock, so that they deliver from the first block on. */
  start(deliveryUrl: string | ((webhookId: string) => string)): void;
  /** Ends connections, deliveries and blocks. Resolves when none is left. */
  stop(): Promise<void>;
};

/**
 * Starts the sandbox with its history. Live blocks begin with `startClock`.
 * @throws when the port is taken or the host is not this machine's.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { host = '127.0.0.1', port = 0, apiKey = 'sandbox', keyHeader = 'X-Service-Api-Key' } = options;
  const { seed = 'sandbox', blockMs = 2_000, now = Date.now, log = () => {} } = options;

  let url = '';
  const logoUrl = (chainId: number, token: Hex | null) => `${url}${logoPath(chainId, token)}`;
  const simulator = new ChainSimulator({ seed, now, logoUrl });
  const { deliveryTimeoutMs, retryBaseMs, signatureSecret } = options;
  const webhooks = createWebhooks({
    simulator,
    now,
    demoAddresses: DEMO_SUBSCRIBERS,
    log,
    ...(deliveryTimeoutMs !== undefined && { deliveryTimeoutMs }),
    ...(retryBaseMs !== undefined && { retryBaseMs }),
    ...(signatureSecret !== undefined && { signatureSecret }),
  });
  simulator.onBlock((block) => webhooks.handleBlock(block));

  const faults = new Faults();
  const stopping = new AbortController();
  const cursors = new Cursors(`${apiKey}/${seed}`);
  const find = createFinder(createOperations({ data: simulator, now, cursors, baseUrl: () => url }));
  const counter = new Counter((path) => find(path)?.operation.path ?? webhookPath(path));
  const server = createServer(
    createRequestHandler({
      find,
      routes: [
        webhooks.route,
        createStatsRoute(counter),
        createFaultsRoute(options.faults === true ? faults : null),
      ],
      keyHeader: keyHeader.toLowerCase(),
      apiKey,
      faults,
      counter,
      log,
      stopped: stopping.signal,
    }),
  );
  url = await listen(server, host, port);

  let clock: NodeJS.Timeout | undefined;
  const sandbox: Sandbox = {
    url,
    apiKey,
    wallets: DEMO_WALLETS,
    simulator,
    webhooks,
    faults,
    stats: () => counter.stats,
    mine: (chainId) => simulator.mine(chainId),
    tick: () => simulator.tick(),
    startClock() {
      clock ??= setInterval(() => simulator.tick(), blockMs);
    },
    connectDemo: (deliveryUrl) => webhooks.connectDemo(deliveryUrl),
    start(deliveryUrl) {
      sandbox.connectDemo(deliveryUrl);
      sandbox.startClock();
    },
    async stop() {
      clearInterval(clock);
      stopping.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, webhooks.stop()]);
    },
  };
  return sandbox;
};

/** The configuration of a sandbox that runs as its own process. */
export type SandboxConfig = {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string;
  readonly blockMs: number;
  readonly seed: string;
  readonly faults: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration, or returns every problem with its variable's name. An empty variable counts as absent. */
export const readSandboxConfig = (environment: Environment): SandboxConfig | readonly string[] => {
  const problems: string[] = [];
  const read = (name: string, otherwise: string) => environment[name] || otherwise;
  const whole = (name: string, otherwise: number, least: number, most: number) => {
    const value = read(name, String(otherwise));
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    problems.push(`${name}: expected a whole number from ${least} to ${most}, got "${value}"`);
    return otherwise;
  };

  const faults = read('SANDBOX_FAULTS', 'off');
  if (faults !== 'on' && faults !== 'off')
    problems.push(`SANDBOX_FAULTS: expected on or off, got "${faults}"`);
  const apiKey = read('SANDBOX_API_KEY', 'sandbox');
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    problems.push('SANDBOX_API_KEY: expected printable ASCII without spaces, so that a header can carry it');
  const config = {
    host: read('HOST', '127.0.0.1'),
    port: whole('PORT', 4_100, 0, 65_535),
    apiKey,
    blockMs: whole('SANDBOX_BLOCK_MS', 2_000, 10, 3_600_000),
    seed: read('SANDBOX_SEED', 'sandbox'),
    faults: faults === 'on',
  };
  return problems.length > 0 ? problems : config;
};

type HandlerOptions = {
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
const createRequestHandler = (options: HandlerOptions): RequestListener => {
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
