/** Why the service gave no usable answer. */
export type UpstreamFailure =
  /** No connection, a broken one, or a 5xx. */
  | 'unavailable'
  | 'timeout'
  /** 402: the key's quota is used up. */
  | 'quota'
  /** 429, or more wait for their turn than can have it in time. */
  | 'rateLimited'
  /** Nothing was sent: the service has told the key to wait, see key-cooldowns.ts. */
  | 'coolingDown'
  /** 401: the key is missing or wrong. */
  | 'unauthenticated'
  /** 403: the key lacks the permission. */
  | 'forbidden'
  /** Any other 4xx: the request itself was refused. */
  | 'rejected'
  /** An answer that is not what the contract promises. */
  | 'invalidResponse'
  /** Nothing was sent: the operation has cost what it may. */
  | 'tooCostly';

/**
 * How there came to be no answer: `refused` before the service saw the request; `broken` at any time after that;
 * `silent` until the attempt's time was over; `aborted` because nobody waited any more.
 */
export type ConnectionFailure = 'connectFailed' | 'reset' | 'noResponse' | 'aborted';

type Facts = {
  /** The HTTP status, where that was the failure. */
  readonly status?: number;
  /** What became of the connection, where that was the failure. Without both, nothing was sent, or it did not read. */
  readonly connection?: ConnectionFailure;
  /** The service's message, where it sent one. */
  readonly serviceMessage?: string;
  /** Milliseconds, where the service asked to wait. */
  readonly retryAfterMs?: number;
  /** Whether the key that was sent is the gateway's own: what the service thinks of it is then no client's business. */
  readonly gatewayKey?: boolean;
  readonly cause?: unknown;
};

/** The only error that leaves `upstream/`; nobody outside needs to know undici or HTTP. */
export class UpstreamError extends Error {
  readonly failure: UpstreamFailure;
  readonly status: number | undefined;
  readonly connection: ConnectionFailure | undefined;
  readonly serviceMessage: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly gatewayKey: boolean;

  constructor(failure: UpstreamFailure, message: string, facts: Facts = {}) {
    super(message, { cause: facts.cause });
    this.name = 'UpstreamError';
    this.failure = failure;
    this.status = facts.status;
    this.connection = facts.connection;
    this.serviceMessage = facts.serviceMessage;
    this.retryAfterMs = facts.retryAfterMs;
    this.gatewayKey = facts.gatewayKey ?? false;
  }
}

/** The operation's whole time is over. */
export const deadlineExceeded = (): UpstreamError =>
  new UpstreamError('timeout', 'The service did not answer within the time that an operation has.');

export const costLimitExceeded = (maxComputeUnits: number): UpstreamError =>
  new UpstreamError(
    'tooCostly',
    `Expected an operation that costs at most ${maxComputeUnits} compute units, got one that needs more than it was estimated at. The limit is MAX_COMPUTE_UNITS.`,
  );

/** No client is left to hear this. */
export const clientGone = (connection?: 'aborted'): UpstreamError =>
  new UpstreamError('unavailable', 'Nobody waits for the answer any more.', connection && { connection });

/** The service's failures, for which an older page makes up; what is wrong with a request or a key is not. */
const STALE_IF_ERROR: ReadonlySet<UpstreamFailure> = new Set([
  'unavailable',
  'timeout',
  'quota',
  'rateLimited',
  'coolingDown',
  'invalidResponse',
]);

export const allowsStale = (error: unknown): boolean =>
  error instanceof UpstreamError && STALE_IF_ERROR.has(error.failure);

/** A service, or what stands before it, may say too much: it is asked again each minute. */
export const MAX_COOLDOWN_MS = 60_000;

/** A key that was told off is not used for the same again at once, also when it was not told how long to wait. */
const MIN_COOLDOWN_MS = 500;

/** Milliseconds for which the service shall not be asked for what it has just refused. */
export const cooldownMsFor = (error: unknown): number => {
  if (!(error instanceof UpstreamError)) return 0;
  const { failure, retryAfterMs } = error;
  const leastMs = failure === 'rateLimited' || failure === 'quota' ? MIN_COOLDOWN_MS : 0;
  return Math.min(Math.max(retryAfterMs ?? 0, leastMs), MAX_COOLDOWN_MS);
};
