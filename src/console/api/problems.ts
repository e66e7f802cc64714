/** Why an operation, or a part of it, has failed. */
export type Problem = {
  /** The gateway's code, or one of this page's own: OFFLINE, NOT_JSON and CLOSED. */
  readonly code: string;
  readonly message: string;
  readonly path: readonly (string | number)[];
  readonly retryAfterMs: number | null;
};

const TITLES: Readonly<Record<string, string>> = {
  OFFLINE: 'The gateway does not answer',
  NOT_JSON: 'Something other than the gateway answered',
  CLOSED: 'The gateway has closed the connection',
  BAD_USER_INPUT: 'The gateway can’t read this input',
  INVALID_CURSOR: 'This page can’t be continued',
  CURSOR_EXPIRED: 'Events are missing here',
  UNAUTHENTICATED: 'The gateway needs other credentials',
  FORBIDDEN: 'These credentials do not allow it',
  NOT_FOUND: 'The service has nothing here',
  QUOTA_EXCEEDED: 'The key’s quota is used up',
  RATE_LIMITED: 'Too many requests at once',
  COMPUTE_BUDGET_EXCEEDED: 'The budget of this minute is used up',
  OPERATION_TOO_COMPLEX: 'That is too much at once',
  UPSTREAM_REJECTED: 'The service refused the request',
  UPSTREAM_UNAVAILABLE: 'The service can’t be reached',
  UPSTREAM_TIMEOUT: 'The service took too long',
  UPSTREAM_INVALID_RESPONSE: 'The service answered with something unexpected',
  LOG_UNAVAILABLE: 'The log of deliveries can’t be read',
};

/** What has happened, in a few words. The problem's own message says the rest. */
export const titleOf = ({ code }: Problem): string => TITLES[code] ?? 'Something went wrong';

/** Whether the same operation may succeed later. */
export const isTransient = ({ code }: Problem): boolean =>
  [
    'OFFLINE',
    'RATE_LIMITED',
    'COMPUTE_BUDGET_EXCEEDED',
    'UPSTREAM_UNAVAILABLE',
    'UPSTREAM_TIMEOUT',
    'LOG_UNAVAILABLE',
  ].includes(code);

export const offline = (): Problem => ({
  code: 'OFFLINE',
  message: 'It is not running, or the network is down. What is on this page stays.',
  path: [],
  retryAfterMs: null,
});

/** Why a connection has ended for good: its close event, or an error. */
export const closed = (reason: unknown): Problem => {
  const message =
    reason instanceof CloseEvent
      ? `With ${reason.code}: ${reason.reason || 'no reason is given'}.`
      : String(reason);
  return { code: 'CLOSED', message, path: [], retryAfterMs: null };
};

type WireError = {
  readonly message?: unknown;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: unknown; readonly retryAfterMs?: unknown };
};

/** A GraphQL error as the gateway writes it. */
export const problemOf = ({ message, path = [], extensions = {} }: WireError): Problem => ({
  code: typeof extensions.code === 'string' ? extensions.code : 'INTERNAL_SERVER_ERROR',
  message: String(message),
  path,
  retryAfterMs: typeof extensions.retryAfterMs === 'number' ? extensions.retryAfterMs : null,
});
