/** Redis can't be reached, does not answer in time, or was closed. A later attempt may succeed. */
export class RedisUnavailableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RedisUnavailableError';
  }
}

/** Redis has refused a command. `code` is the first word of its reply: `OOM`, `READONLY`, `NOPERM`, `NOSCRIPT`, … */
export class RedisReplyError extends Error {
  readonly code: string;

  constructor(reply: string, cause?: unknown) {
    super(reply, { cause });
    this.name = 'RedisReplyError';
    this.code = reply.split(' ', 1)[0] ?? '';
  }
}
