/** Why upstream gave no usable answer. */
export type UpstreamFailure =
  /** No connection, a broken one, or a 5xx. */
  | 'unavailable'
  /** No answer within the attempt's timeout or the operation's deadline. */
  | 'timeout'
  /** 402: the key's quota is used up. */
  | 'quota'
  /** 429, or the rate limit's queue is too long for the deadline. */
  | 'rateLimited'
  /** Not sent: upstream has asked this key to wait, see limits.ts. */
  | 'coolingDown'
  /** 401: the key is missing or wrong. */
  | 'unauthenticated'
  /** 403: the key lacks the permission. */
  | 'forbidden'
  /** Any other 4xx: upstream rejected the request itself. */
  | 'rejected'
  /** An answer that breaks the contract. */
  | 'invalidResponse'
  /** Not sent: the operation has reached its cost limit. */
  | 'tooCostly'
  /** Not sent: HTTP does not allow the request. This is a defect of the gateway and says nothing about upstream. */
  | 'unsendable'
  /** No client waits for the answer any longer. This says nothing about upstream. */
  | 'aborted';

/** How an attempt that was sent ended without a complete answer. */
export type ConnectionFailure =
  /** There was no connection, so upstream has not seen the request. */
  | 'connectFailed'
  /** The connection broke at some point after that. */
  | 'reset'
  /** No answer within the attempt's whole timeout. */
  | 'noResponse'
  /** No answer until the operation's deadline, which left the attempt less than its timeout. */
  | 'deadline'
  /** The gateway discarded the answer, because its memory for bodies was used up. */
  | 'discarded'
  /** The gateway aborted the attempt, because no client waited for it any longer. */
  | 'aborted';

/** How an attempt ended that was sent and failed: an HTTP status, no complete answer, or one that can't be parsed. */
export type Outcome = number | ConnectionFailure | 'invalidResponse';

type Facts = {
  /** The HTTP status, when that is the failure. */
  readonly status?: number;
  /** How the connection failed, when that is the failure. Without this and `status`, nothing was sent or parsed. */
  readonly connection?: ConnectionFailure;
  /** Upstream's error message, when it sent one. */
  readonly serviceMessage?: string;
  /** Milliseconds, when upstream asked the client to wait. */
  readonly retryAfterMs?: number;
  /** Whether upstream works, and says of a chain that it can't be read now: its message is for clients. */
  readonly ofChain?: boolean;
  /** Whether the gateway's own key was sent. Clients are not shown what upstream says about that key. */
  readonly gatewayKey?: boolean;
  readonly cause?: unknown;
};

/** The only error that leaves `upstream/`, so callers need not know undici or HTTP. */
export class UpstreamError extends Error {
  readonly failure: UpstreamFailure;
  readonly status: number | undefined;
  readonly connection: ConnectionFailure | undefined;
  readonly serviceMessage: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly ofChain: boolean;
  readonly gatewayKey: boolean;

  constructor(failure: UpstreamFailure, message: string, facts: Facts = {}) {
    super(message, { cause: facts.cause });
    this.name = 'UpstreamError';
    this.failure = failure;
    this.status = facts.status;
    this.connection = facts.connection;
    this.serviceMessage = facts.serviceMessage;
    this.retryAfterMs = facts.retryAfterMs;
    this.ofChain = facts.ofChain ?? false;
    this.gatewayKey = facts.gatewayKey ?? false;
  }
}

/** Null when the request was not sent. */
export const outcomeOf = ({ status, connection, failure }: UpstreamError): Outcome | null =>
  status ?? connection ?? (failure === 'invalidResponse' ? failure : null);

export const deadlineExceeded = (connection?: 'deadline'): UpstreamError =>
  new UpstreamError(
    'timeout',
    'Upstream did not answer before the deadline of the operation.',
    connection && { connection },
  );

export const costLimitExceeded = (maxComputeUnits: number): UpstreamError =>
  new UpstreamError(
    'tooCostly',
    `Expected an operation that costs at most ${maxComputeUnits} compute units, got one that needs more than its estimate. The limit is MAX_COMPUTE_UNITS.`,
  );

/** `problem` quotes nothing, because the cause may be untrusted text. */
export const unsendable = (problem: string, cause?: unknown): UpstreamError =>
  new UpstreamError('unsendable', `Expected a request to upstream that can be sent, got ${problem}.`, {
    cause,
  });

/** `connection` when the request had been sent. */
export const clientGone = (connection?: 'aborted'): UpstreamError =>
  new UpstreamError('aborted', 'No client waits for the answer any more.', connection && { connection });

/** A longer Retry-After is shortened to this: upstream, or a proxy before it, may ask for too long. */
export const MAX_COOLDOWN_MS = 60_000;

/** Failures of undici and the system that occur before a connection exists: upstream has not seen the request. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The UpstreamError of a request that undici could not complete. */
export const transportFailure = (cause: unknown): UpstreamError => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return NEVER_CONNECTED.has(code)
    ? new UpstreamError('unavailable', 'The connection to upstream failed.', {
        cause,
        connection: 'connectFailed',
      })
    : new UpstreamError('unavailable', 'The connection to upstream broke before the end of the answer.', {
        cause,
        connection: 'reset',
      });
};
