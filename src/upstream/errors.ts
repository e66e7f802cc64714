/** Why the service gave no usable answer. */
export type UpstreamFailure =
  /** No connection, a broken one, or a 5xx. */
  | 'unavailable'
  | 'timeout'
  /** 402: the key's quota is used up. */
  | 'quota'
  /** 429 */
  | 'rateLimited'
  /** 401: the key is missing or wrong. */
  | 'unauthenticated'
  /** 403: the key lacks the permission. */
  | 'forbidden'
  /** Any other 4xx: the request itself was refused. */
  | 'rejected'
  /** An answer that is not what the contract promises. */
  | 'invalidResponse';

type Facts = {
  /** The HTTP status, where there was an answer. */
  readonly status?: number;
  /** The service's own words, where it said any. */
  readonly sentence?: string;
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
  readonly sentence: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly gatewayKey: boolean;

  constructor(failure: UpstreamFailure, message: string, facts: Facts = {}) {
    super(message, { cause: facts.cause });
    this.name = 'UpstreamError';
    this.failure = failure;
    this.status = facts.status;
    this.sentence = facts.sentence;
    this.retryAfterMs = facts.retryAfterMs;
    this.gatewayKey = facts.gatewayKey ?? false;
  }
}
