/** An error of an answer, as the gateway writes it. */
export type Fault = {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryAfterMs?: number };
};

/** What each code means to a person who looks at the page. All others are faults that this person can't mend. */
const TITLES: Readonly<Record<string, string>> = {
  UNREACHABLE: 'The gateway does not answer',
  BAD_USER_INPUT: 'This is not a valid input',
  CURSOR_EXPIRED: 'Events are missing here',
  UNAUTHENTICATED: 'Please sign in again',
  FORBIDDEN: 'You are not allowed to see this',
  QUOTA_EXCEEDED: 'The quota of the key is used up',
  RATE_LIMITED: 'Too many requests at once',
  COMPUTE_BUDGET_EXCEEDED: 'The budget of this minute is used up',
  OPERATION_TOO_COMPLEX: 'This is too much at once',
  UPSTREAM_UNAVAILABLE: 'The service can’t be reached',
  UPSTREAM_TIMEOUT: 'The service took too long',
  LOG_UNAVAILABLE: 'The events can’t be read now',
};

/** Why an operation has failed. Components show the title, and the gateway's own sentence below it. */
export class GatewayError extends Error {
  /** As in the gateway's error, where `codesOf` of the client package looks for the code. */
  readonly extensions: NonNullable<Fault['extensions']>;

  constructor({ message, extensions = {} }: Fault) {
    super(message);
    this.extensions = extensions;
  }

  get code(): string {
    return this.extensions.code ?? 'INTERNAL_SERVER_ERROR';
  }

  get retryAfterMs(): number | null {
    return this.extensions.retryAfterMs ?? null;
  }

  get title(): string {
    return TITLES[this.code] ?? 'Something went wrong';
  }
}

const unreachable = (reason: unknown): GatewayError =>
  new GatewayError({ message: String(reason), extensions: { code: 'UNREACHABLE' } });

/** What a request or a subscription was rejected with: errors of the gateway, a close event, a failed fetch. */
export const toGatewayError = (reason: unknown): GatewayError => {
  if (reason instanceof GatewayError) return reason;
  if (Array.isArray(reason) && reason[0]) return new GatewayError(reason[0] as Fault);
  if (reason instanceof CloseEvent)
    return unreachable(`It closed the connection with ${reason.code}: ${reason.reason}`);
  return unreachable(reason);
};

/** Whether only an item of a list has failed. Its edge is null, and the other items are whole. */
export const isOfAnItem = ({ path = [] }: Fault): boolean => path.includes('edges');
