/** Why an explorer gave no usable answer. Times are in milliseconds since 1970. */
export type Fault =
  /** 402 with a request to pay: the hosted API wants a key. */
  | { readonly kind: 'noKey' }
  /** 401: the hosted API does not know the key. */
  | { readonly kind: 'badKey' }
  /** 402, or no credit is left by the explorer's own count. */
  | { readonly kind: 'outOfCredits'; readonly until: number }
  /** 429, or a pause after one. */
  | { readonly kind: 'rateLimited'; readonly until: number }
  /** 403 that is not the explorer's own: what protects it has turned the request away. */
  | { readonly kind: 'blocked' }
  /** 403 of the explorer itself: the address is restricted. */
  | { readonly kind: 'restricted' }
  /** 404 of the hosted API itself. */
  | { readonly kind: 'notHosted' }
  /** 404 for the subject of a list, such as a token. */
  | { readonly kind: 'notFound' }
  /** Another 4xx, such as 422. `parameters` are those of ours that it names. */
  | { readonly kind: 'rejected'; readonly status: number; readonly parameters: readonly string[] }
  /** A 5xx. `isInstance` says that the hosted API reports a failure of the chain's own instance. */
  | { readonly kind: 'failed'; readonly status: number; readonly isInstance: boolean }
  /** No connection, or one that broke. */
  | { readonly kind: 'unreachable' }
  /** No answer within the time of the lookup. */
  | { readonly kind: 'timeout' }
  /** A redirect, which is never followed: the key would travel with it. */
  | { readonly kind: 'redirected' }
  | { readonly kind: 'tooLarge' }
  /** A success that is not what it must be. `where` is the place in the answer, by our own names. */
  | { readonly kind: 'malformed'; readonly where: string }
  /** A version that is not supported. */
  | { readonly kind: 'tooOld'; readonly major: number };

/** The only error of the client, beside the reason of a signal that aborts. It contains no text of the explorer, and no key. */
export class ExplorerError extends Error {
  override readonly name = 'ExplorerError';
  readonly fault: Fault;
  readonly chainId: number;

  constructor(chainId: number, fault: Fault) {
    super(faultOf(`The explorer of chain ${chainId}`, fault));
    this.chainId = chainId;
    this.fault = fault;
  }
}

/** Faults of the key, which all chains of the hosted API share. */
export const OF_KEY: ReadonlySet<Fault['kind']> = new Set(['noKey', 'badKey', 'outOfCredits']);

/** A fault as sentences, of which the subject begins the first. */
export const faultOf = (subject: string, fault: Fault): string => `${subject} ${sentenceOf(fault)}`;

/** What an explorer did, as the rest of a sentence. */
const sentenceOf = (fault: Fault): string => {
  switch (fault.kind) {
    case 'noKey':
      return 'wants a key: set BLOCKSCOUT_API_KEY.';
    case 'badKey':
      return 'does not accept the key: BLOCKSCOUT_API_KEY is wrong, or no longer valid.';
    case 'outOfCredits':
      return `has no credits left for the key. They are counted anew at ${timeText(fault.until)}.`;
    case 'rateLimited':
      return `had too many requests. It is asked again at ${timeText(fault.until)}.`;
    case 'blocked':
      return 'is behind a protection that turned the request away (403). It is asked again within the hour.';
    case 'restricted':
      return 'does not tell of this address (403).';
    case 'notHosted':
      return 'is not part of the hosted API (404): set the URL of an instance in BLOCKSCOUT.';
    case 'notFound':
      return 'does not know this (404).';
    case 'rejected': {
      const named = fault.parameters.length > 0 ? `, for ${fault.parameters.join(', ')}` : '';
      return `rejected the request (${fault.status}${named}).`;
    }
    case 'failed':
      return `failed (${fault.status}${fault.isInstance ? ', on its side of the hosted API' : ''}). Try again later.`;
    case 'unreachable':
      return "can't be reached. Try again later.";
    case 'timeout':
      return 'did not answer in time. Try again later, or with fewer items.';
    case 'redirected':
      return 'answered with a redirect, which is not followed: set the URL that it leads to.';
    case 'tooLarge':
      return 'answered more than is read. Try with fewer items.';
    case 'malformed':
      return `answered something unexpected at ${fault.where}.`;
    case 'tooOld':
      return `has version ${fault.major}, expected 11 or newer.`;
  }
};

const timeText = (time: number): string => new Date(time).toISOString();
