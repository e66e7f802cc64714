import { type Config, ConfigError } from '../config/config.ts';
import { isTenant } from '../deliveries/ingress/delivery-url.ts';
import type { BodyLimits } from '../deliveries/ingress/request.ts';
import type { openSqliteLog } from '../deliveries/sqlite/log.ts';
import type { Clock, ShutdownDeadline } from '../lib/deadlines.ts';
import type { Log } from '../lib/log.ts';
import type { RedisTimes } from '../redis/client.ts';
import type { SharedTimes } from '../redis/run.ts';
import {
  type Authenticate,
  authenticateAnyone,
  authenticateByKey,
  authenticateByToken,
} from '../server/auth/authenticate.ts';
import type { KeyVerificationTimes } from '../server/auth/verify-key.ts';
import type { HttpTimes } from '../server/http/server.ts';
import type { UnsentTimes } from '../server/http/unsent-limit.ts';
import type { SocketTimes } from '../server/websocket/protocol.ts';
import type { Traces } from '../telemetry/start-traces.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Machine } from '../workers/worker.ts';

/** Times that no setting changes. A time that is left out has its default. */
export type Times = {
  readonly http?: HttpTimes | undefined;
  readonly sockets?: SocketTimes | undefined;
  readonly unsent?: UnsentTimes | undefined;
  readonly keyVerification?: KeyVerificationTimes | undefined;
  /** For a peer to read the final message of its connection, in milliseconds. */
  readonly closeMs?: number | undefined;
  /** Of the connection to the delivery log in Redis. */
  readonly redis?: Partial<RedisTimes> | undefined;
  /** Of the connections over which gateways share pages and budgets. */
  readonly shared?: Partial<SharedTimes> | undefined;
  /** Between two looks for subscribers that fall behind, in milliseconds. */
  readonly lagCheckMs?: number | undefined;
  readonly deliveryBody?: Pick<BodyLimits, 'timeoutMs'> | undefined;
};

/** The URL at which upstream reaches this gateway: `configured`, else the one that it listens on. */
export class PublicUrl {
  #url: string;
  readonly #isConfigured: boolean;

  constructor(configured: string | null) {
    this.#url = configured ?? '';
    this.#isConfigured = configured !== null;
  }

  /** The port may be chosen when it is bound. */
  listening(url: string): void {
    if (!this.#isConfigured) this.#url = url;
  }

  get(): string {
    return this.#url;
  }
}

/** What every stage of the start gets. */
export type Startup = {
  readonly config: Config;
  readonly log: Log;
  /** Measures freshness, deadlines, cooldowns, rates and stalls. */
  readonly now: Clock;
  readonly readPath: ReadPath;
  /** Whether the service's list of chains is read. */
  readonly readsChains: boolean;
  readonly times: Times;
  /** Opens the delivery log where none is in Redis. */
  readonly openLog: typeof openSqliteLog | undefined;
  /** The machine of which this gateway is a worker; null where it is alone. */
  readonly machine: Machine | null;
  readonly publicUrl: PublicUrl;
  readonly telemetry: Telemetry;
  /** Each stage adds what it has opened. What was opened last is closed first. */
  readonly opened: AsyncDisposableStack;
  /** Bounds the closing of what was opened. */
  readonly deadline: ShutdownDeadline;
};

/** Creates the authentication of clients that AUTH names. `secret` makes tenants of keys. */
export const createAuthenticate = async (
  { auth, upstream }: Config,
  gatewayKey: string | null,
  secret: string,
  log: Log,
  now: Clock,
): Promise<Authenticate> => {
  if (auth.mode === 'key') return authenticateByKey(upstream.apiKeyHeader, secret);
  if (gatewayKey === null) throw new TypeError(`AUTH=${auth.mode} needs a key of the gateway, got none`);
  if (auth.mode === 'open') return authenticateAnyone(gatewayKey);
  // Only this mode needs the library of tokens.
  const { createTokens } = await import('../server/auth/tokens.ts');
  return authenticateByToken(gatewayKey, createTokens({ ...auth, isTenant, log, now }));
};

const isMissingPackage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

/** The last spans are exported in this time, unless the shutdown deadline comes first. */
const FLUSH_MS = 2000;

/** Starts the export of traces where it is configured. `opened` stops it last, when all spans have ended. */
export const loadTraces = async (
  { traces: settings, upstream }: Config,
  version: string,
  log: Log,
  opened: AsyncDisposableStack,
  deadline: ShutdownDeadline,
): Promise<Traces | null> => {
  if (settings === null) return null;
  // A gateway without traces does not load OpenTelemetry, and an installation without packages for development has none.
  const { startTraces } = await import('../telemetry/start-traces.ts').catch((error: unknown) => {
    throw isMissingPackage(error)
      ? new ConfigError([
          'OTEL_EXPORTER_OTLP_ENDPOINT: expected the packages of OpenTelemetry, which `npm ci` installs in a checkout, got none',
        ])
      : error;
  });
  const traces = await startTraces(settings, version, upstream.url, log);
  opened.defer(async () => {
    const isFlushed = await traces.stop(Math.min(FLUSH_MS, deadline.remainingMs()));
    if (!isFlushed) log.warn('traces: the last spans were not exported in time');
  });
  return traces;
};

/** What makes reads fast. Each has a plain counterpart, whose answers are the same. */
export const READ_LAYERS = ['plans', 'shared-answers', 'kernel', 'direct-posts'] as const;
type ReadLayer = (typeof READ_LAYERS)[number];

/**
 * How requests are read, and the lists of lookups read and written. `fast` has all layers. `plain` has none: Yoga answers
 * every request, and the executor makes every item. It is the reference that tests compare with. Others lack one layer, so
 * that the bench can measure what it is worth. Not a documented setting.
 */
export type ReadPath = 'fast' | 'plain' | `no-${ReadLayer}`;

/** `fast` unless the text is another one. */
export const readPathOf = (text: string | undefined): ReadPath =>
  text === 'plain'
    ? text
    : (READ_LAYERS.map((layer) => `no-${layer}` as const).find((path) => path === text) ?? 'fast');

export const hasLayer = (path: ReadPath, layer: ReadLayer): boolean =>
  path !== 'plain' && path !== `no-${layer}`;
